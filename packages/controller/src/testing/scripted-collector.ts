import { realClock, sleep } from "@virtkit/api/clock";
import { isNotFound, type KubeClient, type KubeObject, type Resource } from "@virtkit/kube";

/** Options of {@link runScriptedCollector}. */
export interface ScriptedCollectorOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  /** The kinds that own objects or are owned. */
  readonly kinds: readonly Resource[];
  readonly signal: AbortSignal;
}

const interval = 200;

/** Kubernetes' garbage collector as a script: deletes objects whose owners are all gone. */
export async function runScriptedCollector(options: ScriptedCollectorOptions): Promise<void> {
  while (!options.signal.aborted) {
    await collect(options);
    await sleep(realClock, interval, options.signal);
  }
}

async function collect({ client, namespace, kinds }: ScriptedCollectorOptions): Promise<void> {
  // Owned objects are listed before their owners, so that a new owner is never missed.
  const lists = [...kinds, ...kinds];
  const found: (readonly KubeObject[])[] = [];
  for (const kind of lists) found.push((await client.list(kind, { namespace })).items);
  const owners = new Set(
    found
      .slice(kinds.length)
      .flat()
      .map(({ metadata }) => metadata.uid),
  );
  for (const [index, kind] of kinds.entries()) {
    for (const { metadata } of found[index] ?? []) {
      const { ownerReferences = [], deletionTimestamp, name = "", uid = "" } = metadata;
      const isOrphan =
        ownerReferences.length > 0 && ownerReferences.every((owner) => !owners.has(owner.uid));
      if (!isOrphan || deletionTimestamp) continue;
      await client
        .delete(kind, { namespace, name }, { preconditions: { uid } })
        .catch((error: unknown) => {
          if (!isNotFound(error)) throw error;
        });
    }
  }
}
