import type { KubeClient, KubeObject, ObjectName, Resource } from "@virtkit/kube";
import type { Life } from "./life.ts";
import type { Requests } from "./requests.ts";
import type { SmallStore } from "./small-store.ts";

type Patch = Parameters<SmallStore["patch"]>[3];

/** A client of one process. Every request waits until the schedule chooses what happens to it. */
export function smallClient(store: SmallStore, requests: Requests, life: Life): KubeClient {
  const { owner } = life;
  const ask = async <T>(kind: "read" | "write", what: string, act: () => T): Promise<T> =>
    await requests.make(life, kind, what, act);
  const client = {
    get: async ({ plural }: Resource, { name }: ObjectName) =>
      await ask("read", `get ${plural}`, () => store.get(plural, name)),
    list: async ({ plural }: Resource, options: ListedBy = {}) =>
      await ask("read", `list ${plural}`, () => ({
        metadata: { resourceVersion: String(store.version) },
        items: store.list(plural).filter((object) => isSelected(object, options)),
      })),
    create: async ({ plural }: Resource, object: KubeObject) =>
      await ask("write", `create ${plural}`, () => store.create(owner, plural, object)),
    patch: async ({ plural }: Resource, { name }: ObjectName, patch: Patch) =>
      await ask("write", `patch ${plural}`, () => store.patch(owner, plural, name, patch)),
    delete: async ({ plural }: Resource, object: ObjectName, options: DeletedBy = {}) =>
      await ask("write", `delete ${plural}`, () =>
        store.delete(owner, plural, object, options.preconditions?.uid),
      ),
  };
  return client as unknown as KubeClient;
}

interface ListedBy {
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
}

interface DeletedBy {
  readonly preconditions?: { readonly uid?: string };
}

/** By one label, or by name: nothing else is requested here. */
function isSelected({ metadata }: KubeObject, { fieldSelector, labelSelector }: ListedBy): boolean {
  if (fieldSelector !== undefined && fieldSelector !== `metadata.name=${metadata.name}`)
    return false;
  if (labelSelector === undefined) return true;
  const [key = "", value] = labelSelector.split("=");
  return metadata.labels?.[key] === value;
}
