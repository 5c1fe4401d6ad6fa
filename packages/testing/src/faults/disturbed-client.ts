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
  type Resource,
  type WatchEvent,
  type WatchOptions,
  type WriteOptions,
} from "@virtkit/kube";
import { expired } from "../api-server/status-error.ts";
import { lagMilliseconds, type Perturbation } from "./perturbation.ts";

/** What a disturbed client counts, over all lives of its actor. */
export interface ActorCounts {
  writes: number;
  events: number;
}

/** Options of a {@link DisturbedClient}. */
export interface DisturbedClientOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly perturbation?: Perturbation | undefined;
  readonly counts: ActorCounts;
  /** Ends the life of the actor that uses this client. */
  readonly crash: () => void;
  /** Aborted once that life has ended. */
  readonly life: AbortSignal;
}

/** Never settles: what a process waits for that is no more. */
const never = new Promise<never>(() => {});

/** A client that counts what goes through it, and disturbs it once, at a given place. */
export class DisturbedClient implements KubeClient {
  readonly #options: DisturbedClientOptions;
  /** Until when events are late. */
  #lagUntil = 0;

  constructor(options: DisturbedClientOptions) {
    this.#options = options;
  }

  async get<T extends KubeObject>(
    resource: Resource<T>,
    object: ObjectName,
    options?: GetOptions,
  ): Promise<T> {
    return await this.#alive(this.#options.client.get(resource, object, options));
  }

  async list<T extends KubeObject>(
    resource: Resource<T>,
    options?: ListOptions,
  ): Promise<ObjectList<T>> {
    return await this.#alive(this.#options.client.list(resource, options));
  }

  async create<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options?: WriteOptions,
  ): Promise<T> {
    return await this.#write(() => this.#options.client.create(resource, object, options));
  }

  async update<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options?: WriteOptions,
  ): Promise<T> {
    return await this.#write(() => this.#options.client.update(resource, object, options));
  }

  async patch<T extends KubeObject>(
    resource: Resource<T>,
    object: ObjectName,
    patch: Patch,
    options?: WriteOptions,
  ): Promise<T> {
    return await this.#write(() => this.#options.client.patch(resource, object, patch, options));
  }

  async delete<T extends KubeObject>(
    resource: Resource<T>,
    object: ObjectName,
    options?: DeleteOptions,
  ): Promise<void> {
    await this.#write(() => this.#options.client.delete(resource, object, options));
  }

  async request(request: RawRequest): Promise<RawResponse> {
    return await this.#alive(this.#options.client.request(request));
  }

  async *watch<T extends KubeObject>(
    resource: Resource<T>,
    options: WatchOptions = {},
  ): AsyncGenerator<WatchEvent<T>> {
    const { client, clock, life } = this.#options;
    for await (const event of client.watch(resource, options)) {
      if (life.aborted) return;
      if (event.type !== "BOOKMARK") await this.#disturbEvent(options.signal);
      // A lagging server shows everything, in order, but late.
      const late = this.#lagUntil - clock.now();
      if (late > 0) await sleep(clock, late, options.signal);
      if (life.aborted) return;
      yield event;
    }
  }

  async #disturbEvent(signal: AbortSignal | undefined): Promise<void> {
    const { clock, counts, perturbation } = this.#options;
    const event = ++counts.events;
    if (!perturbation || !("event" in perturbation) || perturbation.event !== event) return;
    if (perturbation.kind === "stale-view") {
      this.#lagUntil = clock.now() + lagMilliseconds;
      return;
    }
    await sleep(clock, lagMilliseconds, signal);
    throw expired("the watch was blind for a while; list again");
  }

  async #write<T>(act: () => Promise<T>): Promise<T> {
    const { counts, perturbation, crash, life } = this.#options;
    if (life.aborted) return await never;
    const write = ++counts.writes;
    const isThis =
      perturbation !== undefined && "write" in perturbation && perturbation.write === write;
    if (isThis && perturbation.kind === "crash" && perturbation.when === "before") {
      crash();
      return await never;
    }
    const answer = await act();
    if (isThis && perturbation.kind === "crash") {
      crash();
      return await never;
    }
    if (isThis) {
      throw new KubeError(
        "KUBE_TIMEOUT",
        "no answer came in time; the write may have taken effect",
      );
    }
    return await this.#alive(Promise.resolve(answer));
  }

  /** An answer, for those who live to hear it. */
  async #alive<T>(answer: Promise<T>): Promise<T> {
    const { life } = this.#options;
    try {
      const value = await answer;
      return life.aborted ? await never : value;
    } catch (error) {
      if (life.aborted) return await never;
      throw error;
    }
  }
}
