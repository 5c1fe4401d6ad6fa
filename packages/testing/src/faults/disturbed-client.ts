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
import type { Disturbance, RequestFault } from "./disturbance.ts";

/** What a disturbed client counts, over all lives of its actor. */
export interface ActorCounts {
  writes: number;
  events: number;
}

/** Options of a {@link DisturbedClient}. */
export interface DisturbedClientOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly disturbance: Disturbance;
  readonly counts: ActorCounts;
  /** Ends the life of the actor that uses this client. */
  readonly crash: () => void;
  /** Aborted once that life has ended. */
  readonly life: AbortSignal;
}

/** Never settles: what a dead process waits for. */
const never = new Promise<never>(() => {});

/** A client that counts what goes through it, and does to it what a {@link Disturbance} says. */
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
    return await this.#read(() => this.#options.client.get(resource, object, options));
  }

  async list<T extends KubeObject>(
    resource: Resource<T>,
    options?: ListOptions,
  ): Promise<ObjectList<T>> {
    return await this.#read(() => this.#options.client.list(resource, options));
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
    return await this.#read(() => this.#options.client.request(request));
  }

  async *watch<T extends KubeObject>(
    resource: Resource<T>,
    options: WatchOptions = {},
  ): AsyncGenerator<WatchEvent<T>> {
    const { client, clock, counts, disturbance, life } = this.#options;
    for await (const event of client.watch(resource, options)) {
      if (life.aborted) return;
      const fault = event.type === "BOOKMARK" ? undefined : disturbance.event(++counts.events);
      if (fault?.kind === "late") this.#lagUntil = clock.now() + fault.milliseconds;
      if (fault?.kind === "cut") throw new KubeError("KUBE_CONNECTION", "the watch was cut");
      if (fault?.kind === "blind") {
        await sleep(clock, fault.milliseconds, options.signal);
        throw expired("the watch was blind for a while; list again");
      }
      await this.#waitForLag(options.signal);
      if (life.aborted) return;
      yield event;
      if (fault?.kind === "twice") yield event;
    }
  }

  /** A lagging server shows everything, in order, but late. */
  async #waitForLag(signal: AbortSignal | undefined): Promise<void> {
    const { clock } = this.#options;
    const late = this.#lagUntil - clock.now();
    if (late > 0) await sleep(clock, late, signal);
  }

  async #write<T>(act: () => Promise<T>): Promise<T> {
    const { counts, disturbance, life } = this.#options;
    if (life.aborted) return await never;
    return await this.#disturbed(disturbance.write(++counts.writes), act);
  }

  async #read<T>(act: () => Promise<T>): Promise<T> {
    const { disturbance, life } = this.#options;
    if (life.aborted) return await never;
    return await this.#disturbed(disturbance.read?.(), act);
  }

  async #disturbed<T>(fault: RequestFault | undefined, act: () => Promise<T>): Promise<T> {
    const { crash, clock } = this.#options;
    if (fault?.kind === "refused") throw fault.error;
    if (fault?.kind === "slow") await sleep(clock, fault.milliseconds);
    if (fault?.kind === "crash" && fault.when === "before") {
      crash();
      return await never;
    }
    if (fault?.kind === "no-answer" && !fault.effect) throw noAnswer();
    if (fault?.kind === "lands-late") {
      // The server has the request: it takes effect even if who sent it has ended since.
      clock.setTimeout(() => void act().catch(ignored), fault.milliseconds);
      throw noAnswer();
    }
    const answer = await this.#alive(act);
    if (fault?.kind === "crash") {
      crash();
      return await never;
    }
    if (fault?.kind === "no-answer") throw noAnswer();
    return answer;
  }

  /** A reply, if its caller still lives. */
  async #alive<T>(act: () => Promise<T>): Promise<T> {
    const { life } = this.#options;
    if (life.aborted) return await never;
    try {
      const value = await act();
      return life.aborted ? await never : value;
    } catch (error) {
      if (life.aborted) return await never;
      throw error;
    }
  }
}

function noAnswer(): KubeError {
  const message = "no answer came in time; the request may have taken effect";
  return new KubeError("KUBE_TIMEOUT", message);
}

/** Nobody hears what comes of a request whose sender has stopped waiting. */
function ignored(): void {}
