import type {
  KubeClient,
  ListOptions,
  ObjectList,
  WatchEvent,
  WatchOptions,
} from "../client/kube-client.ts";
import { KubeError } from "../client/kube-error.ts";
import type { KubeObject } from "../client/kube-object.ts";
import type { Resource } from "../client/resource.ts";

/** What one list or watch does. */
export type Scripted =
  | { readonly list: ObjectList<KubeObject> }
  /** Events, then a failure or a regular end; `open`: silence. */
  | {
      readonly watch: readonly WatchEvent<KubeObject>[];
      readonly end?: KubeError | "regular" | "open";
    }
  | { readonly fail: KubeError };

/** Plays one list or watch after another, and records the requests. After the last one it is silent. */
export class ScriptedClient implements Pick<KubeClient, "list" | "watch"> {
  readonly lists: ListOptions[] = [];
  readonly watches: WatchOptions[] = [];
  readonly #script: Scripted[];

  constructor(script: readonly Scripted[]) {
    this.#script = [...script];
  }

  /** Only list and watch exist: a reflector uses nothing else. */
  get client(): KubeClient {
    return this as Pick<KubeClient, "list" | "watch"> as KubeClient;
  }

  async list<T extends KubeObject>(
    _resource: Resource<T>,
    { signal, ...options }: ListOptions = {},
  ): Promise<ObjectList<T>> {
    this.lists.push(options);
    const next = this.#script.shift();
    if (next === undefined || "watch" in next) return silence(signal);
    if ("fail" in next) throw next.fail;
    return next.list as ObjectList<T>;
  }

  async *watch<T extends KubeObject>(
    _resource: Resource<T>,
    { signal, onOpen, ...options }: WatchOptions = {},
  ): AsyncGenerator<WatchEvent<T>> {
    this.watches.push(options);
    const next = this.#script.shift();
    if (next === undefined) return await silence(signal);
    if ("fail" in next) throw next.fail;
    if ("list" in next) throw new Error("the script has a list where a watch was requested");
    onOpen?.();
    yield* next.watch as readonly WatchEvent<T>[];
    const { end = "open" } = next;
    if (end === "open") await silence(signal);
    if (end instanceof KubeError) throw end;
  }
}

function silence(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_resolve, reject) => {
    const stop = (): void => reject(new KubeError("KUBE_ABORTED", "aborted"));
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop, { once: true });
  });
}
