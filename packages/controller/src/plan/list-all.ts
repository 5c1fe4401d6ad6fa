import type { KubeClient, KubeObject, ListOptions, Resource } from "@virtkit/kube";

/** Lists objects live, all pages of them. */
export async function listAll(
  client: Pick<KubeClient, "list">,
  resource: Resource,
  options: Omit<ListOptions, "continue">,
): Promise<readonly KubeObject[]> {
  const found: KubeObject[] = [];
  let next: string | undefined;
  do {
    const page = await client.list(resource, { ...options, continue: next });
    found.push(...page.items);
    next = page.metadata.continue || undefined;
  } while (next);
  return found;
}
