import { type Clock, sleep } from "@virtkit/api/clock";
import {
  type DeleteOptions,
  type GetOptions,
  type KubeClient,
  KubeError,
  type KubeObject,
  type ListOptions,
  type ObjectList,
  type ObjectName,
  type Patch,
  type RawRequest,
  type RawResponse,
  type RequestOptions,
  type Resource,
  type WatchEvent,
  type WatchOptions,
  type WriteOptions,
} from "@virtkit/kube";
import { apiServerPart, type Network } from "./network.ts";

/** Options of a {@link NetworkedClient}. */
export interface NetworkedClientOptions {
  readonly client: KubeClient;
  readonly network: Network;
  readonly clock: Clock;
  /** The names of the part that uses it. */
  readonly parts: readonly string[];
}

/** Milliseconds until a request that does not arrive is given up, and a watch that is silent. */
const requestTimeout = 10_000;
const watchTimeout = 30_000;

/** A client whose requests arrive as long as its part can reach the API server. */
export class NetworkedClient implements KubeClient {
  readonly #options: NetworkedClientOptions;

  constructor(options: NetworkedClientOptions) {
    this.#options = options;
  }

  async get<T extends KubeObject>(
    resource: Resource<T>,
    object: ObjectName,
    options?: GetOptions,
  ): Promise<T> {
    if (this.#isCut) await this.#lose(options);
    return await this.#options.client.get(resource, object, options);
  }

  async list<T extends KubeObject>(
    resource: Resource<T>,
    options?: ListOptions,
  ): Promise<ObjectList<T>> {
    if (this.#isCut) await this.#lose(options);
    return await this.#options.client.list(resource, options);
  }

  async create<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options?: WriteOptions,
  ): Promise<T> {
    if (this.#isCut) await this.#lose(options);
    return await this.#options.client.create(resource, object, options);
  }

  async update<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options?: WriteOptions,
  ): Promise<T> {
    if (this.#isCut) await this.#lose(options);
    return await this.#options.client.update(resource, object, options);
  }

  async patch<T extends KubeObject>(
    resource: Resource<T>,
    object: ObjectName,
    patch: Patch,
    options?: WriteOptions,
  ): Promise<T> {
    if (this.#isCut) await this.#lose(options);
    return await this.#options.client.patch(resource, object, patch, options);
  }

  async delete<T extends KubeObject>(
    resource: Resource<T>,
    object: ObjectName,
    options?: DeleteOptions,
  ): Promise<void> {
    if (this.#isCut) await this.#lose(options);
    await this.#options.client.delete(resource, object, options);
  }

  async request(request: RawRequest): Promise<RawResponse> {
    if (this.#isCut) await this.#lose(request);
    return await this.#options.client.request(request);
  }

  /** Parted from the server it is silent; what it missed comes after a new beginning. */
  async *watch<T extends KubeObject>(
    resource: Resource<T>,
    options: WatchOptions = {},
  ): AsyncGenerator<WatchEvent<T>> {
    if (this.#isCut) await this.#lose(options);
    const { client, clock } = this.#options;
    for await (const event of client.watch(resource, options)) {
      if (this.#isCut) {
        await sleep(clock, watchTimeout, options.signal);
        throw new KubeError("KUBE_CONNECTION", "the watch was silent for too long");
      }
      yield event;
    }
  }

  get #isCut(): boolean {
    const { network, parts } = this.#options;
    return network.isCut(parts, [apiServerPart]);
  }

  /** A lost request has no effect, and its caller waits until its timeout. */
  async #lose({ timeout = requestTimeout, signal }: RequestOptions = {}): Promise<never> {
    await sleep(this.#options.clock, timeout, signal);
    throw new KubeError(
      "KUBE_TIMEOUT",
      `no answer within ${timeout} ms: the server cannot be reached`,
    );
  }
}
