import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isKubeError, type KubeClient, type WatchEvent } from "@virtkit/kube";
import type { MachineIdentity } from "../service/own-node.ts";

const script = fileURLToPath(new URL("./killed-agent-child.mjs", import.meta.url));
/** As the program `virtkit-node-agent` runs: small, and slower to start. */
const programFlags = ["--lite-mode", "--max-semi-space-size=1"];

/** The orders for an agent in its own process. */
export interface AgentOrders {
  readonly nodeName: string;
  readonly stateDirectory: string;
  readonly identity: MachineIdentity;
  /** Where simulated launchers listen. */
  readonly socketDirectory: string;
  /** Where it records each moment, before it may die there. */
  readonly momentFile: string;
  /** The moment at which it dies: `during "swap the grant"`, before it has an answer, or `after "swap the grant"`. */
  readonly dieAt?: string;
  /** It dies during the first action that is not one of these. */
  readonly survive?: readonly string[];
  /** The planted fault: it ends guests that it has no record of. */
  readonly endsTheUnknown?: boolean;
}

/** A node agent that can be killed; see `killed-agent-child.mjs`. The API server is in this process. */
export class KilledAgent implements AsyncDisposable {
  readonly exited: Promise<unknown>;
  readonly #child: ChildProcess;
  readonly #watches = new Map<number, AbortController>();
  #momentFile = "";

  /** Loads its code, which takes it a second, and waits for orders. */
  constructor({ isLean = false }: { readonly isLean?: boolean } = {}) {
    this.#child = fork(script, [], { execArgv: isLean ? programFlags : [] });
    this.exited = once(this.#child, "exit");
    void this.exited.then(() => {
      for (const watch of this.#watches.values()) watch.abort();
    });
  }

  /** Begins to work. Once. */
  begin(client: KubeClient, orders: AgentOrders): void {
    this.#momentFile = orders.momentFile;
    rmSync(orders.momentFile, { force: true });
    this.#child.on("message", (asked) => void this.#answer(client, asked as Asked));
    this.#send({ orders });
  }

  /** The moments that it has reached, in order. */
  get moments(): readonly string[] {
    try {
      return readFileSync(this.#momentFile, "utf8").split("\n").filter(Boolean);
    } catch {
      // It has done nothing yet.
      return [];
    }
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Resident memory in MiB. */
  get memory(): number {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, "utf8");
    return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024;
  }

  /** From now on it dies at this moment. */
  dieAt(moment: string): void {
    this.#send({ dieAt: moment });
  }

  async kill(): Promise<void> {
    if (this.isAlive) this.#child.kill("SIGKILL");
    await this.exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  async #answer(client: KubeClient, { id, method, args }: Asked): Promise<void> {
    try {
      if (method === "stop") this.#watches.get(id)?.abort();
      else if (method === "watch") await this.#watch(client, id, args);
      else {
        const call = client[method] as (...args: unknown[]) => Promise<unknown>;
        this.#send({ id, answer: await call.apply(client, args) });
      }
    } catch (error) {
      if (!isKubeError(error)) throw error;
      const { code, message, path, status, reason, causes } = error;
      this.#send({ id, error: { code, message, path, status, reason, causes } });
    }
  }

  async #watch(
    client: KubeClient,
    id: number,
    [resource, options]: readonly unknown[],
  ): Promise<void> {
    const stop = new AbortController();
    this.#watches.set(id, stop);
    const asked = { ...(options as object), signal: stop.signal };
    const events: AsyncIterable<WatchEvent<never>> = client.watch(resource as never, asked);
    try {
      for await (const event of events) this.#send({ id, event });
      this.#send({ id });
    } catch (error) {
      if (!stop.signal.aborted) throw error;
    } finally {
      this.#watches.delete(id);
    }
  }

  #send(message: object): void {
    // An agent that has just been killed receives nothing, which does no harm.
    if (this.isAlive && this.#child.connected) this.#child.send(message, () => {});
  }
}

interface Asked {
  readonly id: number;
  readonly method: keyof KubeClient | "stop";
  readonly args: unknown[];
}
