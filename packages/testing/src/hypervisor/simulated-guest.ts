import { type Clock, realClock, sleep } from "@virtkit/api/clock";
import { type Random, realRandom } from "@virtkit/api/random";
import type {
  DomainStats,
  DomainStatus,
  ExecResult,
  GuestControl,
  GuestEvent,
  GuestFileSystem,
  GuestIdentity,
  GuestUser,
  MayRun,
  Screenshot,
  SyncRequest,
} from "@virtkit/domain-manager";
import { guestFailure } from "./guest-failure.ts";
import type { GuestHappening, GuestScript, SimulatedProgram } from "./guest-script.ts";
import { RunProof } from "./run-proof.ts";
import { SimulatedDomain } from "./simulated-domain.ts";
import { type GuestVerb, type VerbCall, VerbCalls } from "./verb-calls.ts";

/** How a {@link SimulatedGuest} is made. */
export interface SimulatedGuestOptions {
  readonly identity: GuestIdentity;
  readonly script?: GuestScript;
  readonly clock?: Clock;
  readonly random?: Random;
  /** The time of events, as an ISO date. By default the clock's, counted from 1970. */
  readonly now?: () => string;
}

type CallOptions = Parameters<GuestControl["pause"]>[0];

/** Milliseconds: the domain manager's deadlines. */
const deadlines = { read: 5_000, verb: 20_000, freeze: 60_000, dump: 600_000 };
const agentMargin = 5_000;
/** Milliseconds between two attempts to thaw a guest whose time is up, and how many there are. */
const thawAgain = 5_000;
const thawAttempts = 13;

/**
 * A guest without a hypervisor: the verbs of the domain manager, with its states, reasons, events and errors, on
 * the test's own clock.
 *
 * @example
 * ```ts
 * const guest = new SimulatedGuest({ identity, clock, script: { shutdown: undefined } });
 * guest.loseReply("pause");
 * ```
 */
export class SimulatedGuest implements GuestControl, Disposable {
  /** Files to which memory was dumped; nothing is written. */
  readonly dumps: string[] = [];
  readonly #identity: GuestIdentity;
  #script: GuestScript;
  readonly #clock: Clock;
  /** @internal What libvirt and QEMU do for it. */
  readonly domain: SimulatedDomain;
  readonly #proof: RunProof;
  readonly #calls: VerbCalls;
  #thawTimer: unknown;

  constructor({
    identity,
    script = {},
    clock = realClock,
    random = realRandom,
    now = () => new Date(clock.now()).toISOString(),
  }: SimulatedGuestOptions) {
    this.#identity = identity;
    this.#script = script;
    this.#clock = clock;
    const name = `${identity.namespace}_${identity.name}`;
    this.domain = new SimulatedDomain({ name, clock, random, script, now });
    this.#proof = new RunProof(identity);
    this.#calls = new VerbCalls(clock);
  }

  /** What it does, as its script says it. */
  get script(): GuestScript {
    return this.#script;
  }

  /** From now on it writes so much to its memory; see {@link GuestScript} `dirty`. */
  dirty(bytesPerSecond: number, workingSet?: number): void {
    const dirty = { bytesPerSecond, ...(workingSet === undefined ? {} : { workingSet }) };
    this.#script = { ...this.#script, dirty };
  }

  get identity(): GuestIdentity {
    return this.#identity;
  }

  /** Lets something happen to the guest now. */
  happen(what: GuestHappening): void {
    this.domain.happen(what);
  }

  /** The next call of a verb takes effect and is never answered: its caller waits for its deadline. */
  loseReply(verb: GuestVerb): void {
    this.#calls.loseReply(verb);
  }

  async syncVmi(request: SyncRequest, options?: CallOptions): Promise<DomainStatus> {
    return await this.#change("syncVmi", options, async (signal) => {
      this.#proof.check(request.mayRun);
      this.#requireSameGuest(request);
      const { vmi } = request;
      if (this.domain.isActive) this.domain.define(vmi);
      else if (this.domain.status.state === "Absent" || this.domain.isNew) {
        await this.#start(vmi, signal);
      }
      return this.domain.status;
    });
  }

  async pause(options?: CallOptions): Promise<void> {
    await this.#change("pause", options, async () => {
      this.#requireThere();
      if (this.domain.status.state === "Running") this.domain.suspend("User");
    });
  }

  async unpause(mayRun: MayRun, options?: CallOptions): Promise<void> {
    await this.#change("unpause", options, async () => {
      this.#proof.check(mayRun);
      this.#requireThere();
      if (this.domain.status.state === "Paused") this.domain.resume();
    });
  }

  async shutdown(options?: CallOptions): Promise<void> {
    await this.#read("shutdown", deadlines.verb, options, async () => this.domain.press("power"));
  }

  async kill(options?: CallOptions): Promise<void> {
    const call = { verb: "kill", timeout: deadlines.verb, order: "first", options } as const;
    await this.#calls.run(call, async () => {
      this.domain.end("Destroyed");
      this.#clock.clearTimeout(this.#thawTimer);
    });
  }

  async delete(options?: CallOptions): Promise<void> {
    await this.#change("delete", options, async () => {
      const { state } = this.domain.status;
      if (state === "Absent") return;
      if (this.domain.isActive) {
        const message = `the guest is ${state}; shut it down or kill it before it is deleted`;
        throw this.#failure("DOMAIN_STATE", message);
      }
      this.domain.undefine();
      this.#proof.close();
      this.#clock.clearTimeout(this.#thawTimer);
    });
  }

  async softReboot(options?: CallOptions): Promise<void> {
    await this.#change("softReboot", options, async () => {
      this.#requireActive();
      this.domain.press("reboot");
    });
  }

  async reset(options?: CallOptions): Promise<void> {
    await this.#change("reset", options, async () => {
      this.#requireActive();
      this.domain.reset();
    });
  }

  async freeze(
    { unfreezeAfterSeconds }: { readonly unfreezeAfterSeconds: number },
    options?: CallOptions,
  ): Promise<void> {
    const call = { verb: "freeze", timeout: deadlines.freeze, order: "turn", options } as const;
    await this.#calls.run(call, async () => {
      this.#requireAgent();
      this.#clock.clearTimeout(this.#thawTimer);
      if (unfreezeAfterSeconds > 0) this.#thawAfter(unfreezeAfterSeconds * 1000, thawAttempts);
      if (!this.domain.isFrozen) this.domain.hold(true);
    });
  }

  async unfreeze(options?: CallOptions): Promise<void> {
    const call = { verb: "unfreeze", timeout: deadlines.freeze, order: "turn", options } as const;
    await this.#calls.run(call, async () => {
      this.#requireAgent();
      if (this.domain.isFrozen) this.domain.hold(false);
      this.#clock.clearTimeout(this.#thawTimer);
    });
  }

  async exec(
    { command, args = [], timeoutSeconds = 10 }: Parameters<GuestControl["exec"]>[0],
    options?: CallOptions,
  ): Promise<ExecResult> {
    const timeout = timeoutSeconds * 1000;
    return await this.#read("exec", timeout + agentMargin, options, async (signal) => {
      this.#requireAgent();
      if (this.domain.isFrozen) {
        throw this.#failure(
          "DOMAIN_AGENT",
          "it runs no programs while its file systems are frozen",
        );
      }
      const silent: SimulatedProgram = { exitCode: 0, stdout: "", stderr: "" };
      const { takes = 10, ...result } = this.#script.exec?.(command, args) ?? silent;
      await sleep(this.#clock, Math.min(takes, timeout), signal);
      if (takes > timeout) {
        throw this.#failure("DOMAIN_TIMEOUT", `${command} has not ended in ${timeoutSeconds} s`);
      }
      this.#requireAgent();
      return result;
    });
  }

  async guestPing(
    { timeoutSeconds }: { readonly timeoutSeconds: number },
    options?: CallOptions,
  ): Promise<void> {
    const timeout = timeoutSeconds * 1000 + agentMargin;
    await this.#read("guestPing", timeout, options, async () => {
      const { state, reason } = this.domain.status;
      const isSilentButWell = state === "Absent" || (state === "Paused" && reason !== "IOError");
      if (!isSilentButWell) this.#requireAgent();
    });
  }

  async users(options?: CallOptions): Promise<readonly GuestUser[]> {
    return await this.#ofAgent("users", options, () => this.#script.users ?? []);
  }

  async fileSystems(options?: CallOptions): Promise<readonly GuestFileSystem[]> {
    return await this.#ofAgent("fileSystems", options, () => this.#script.fileSystems ?? []);
  }

  async stats(options?: CallOptions): Promise<DomainStats> {
    return await this.#read("stats", deadlines.read, options, async () => {
      this.#requireActive();
      const { state, disks } = this.domain.status;
      return {
        "state.state": state === "Running" ? 1 : 3,
        "vcpu.current": 1,
        "block.count": disks.length,
        ...Object.fromEntries(disks.map(({ target }, index) => [`block.${index}.name`, target])),
      };
    });
  }

  async screenshot(options?: CallOptions): Promise<Screenshot> {
    return await this.#read("screenshot", deadlines.read, options, async () => {
      this.#requireActive();
      const data = new TextEncoder().encode("P3\n1 1\n255\n0 0 0\n");
      return { mime: "image/x-portable-pixmap", data };
    });
  }

  /** The guest is paused meanwhile. */
  async memoryDump({ path }: { readonly path: string }, options?: CallOptions): Promise<void> {
    if (!path.startsWith("/") || path.split("/").some((part) => part === "." || part === "..")) {
      const message = `path: found ${JSON.stringify(path)}, give an absolute path`;
      throw guestFailure("DOMAIN_ARGUMENT", message, "path");
    }
    const call = { verb: "memoryDump", timeout: deadlines.dump, order: "turn", options } as const;
    await this.#calls.run(call, async (signal) => {
      this.#requireActive();
      const wasRunning = this.domain.status.state === "Running";
      if (wasRunning) this.domain.suspend("Dump");
      await sleep(this.#clock, this.#script.dump ?? 1_000, signal);
      if (wasRunning && this.domain.isActive) this.domain.resume();
      signal.throwIfAborted();
      this.dumps.push(path);
    });
  }

  async status(options?: CallOptions): Promise<DomainStatus> {
    return await this.#read("status", deadlines.read, options, async () => this.domain.status);
  }

  events({ signal }: { readonly signal?: AbortSignal } = {}): AsyncIterableIterator<GuestEvent> {
    return this.domain.events(signal);
  }

  /** The host is gone: nothing more happens, and events end. */
  [Symbol.dispose](): void {
    this.#clock.clearTimeout(this.#thawTimer);
    this.domain.vanish();
  }

  async #start(vmi: SyncRequest["vmi"], signal: AbortSignal): Promise<void> {
    await sleep(this.#clock, this.#script.prepare ?? 500, signal);
    signal.throwIfAborted();
    this.domain.define(vmi);
    this.domain.tellStage("domain-defined");
    this.domain.start({ paused: vmi.spec.startStrategy === "Paused" });
  }

  #thawAfter(milliseconds: number, left: number): void {
    this.#thawTimer = this.#clock.setTimeout(() => {
      // Nobody waits for it: a guest that cannot be thawed now is retried.
      this.unfreeze().catch(() => {
        if (left > 1) this.#thawAfter(thawAgain, left - 1);
      });
    }, milliseconds);
  }

  #requireSameGuest({ vmi: { metadata } }: SyncRequest): void {
    const { namespace, name, vmiUid: uid } = this.#identity;
    for (const [field, wanted] of Object.entries({ namespace, name, uid })) {
      const found = metadata?.[field as "namespace" | "name" | "uid"];
      if (found === wanted) continue;
      const path = `vmi.metadata.${field}`;
      const message = `${path}: found ${found ?? "nothing"}, and this guest is ${wanted}`;
      throw guestFailure("DOMAIN_ARGUMENT", message, path);
    }
  }

  #requireThere(): void {
    const { state, name } = this.domain.status;
    if (state !== "Absent") return;
    throw this.#failure("DOMAIN_MISSING", `there is no domain ${name}; sync the VMI first`);
  }

  #requireActive(): void {
    this.#requireThere();
    const { state, reason } = this.domain.status;
    if (this.domain.isActive) return;
    throw this.#failure("DOMAIN_STATE", `the guest is ${state} (${reason}), and does not run`);
  }

  #requireAgent(): void {
    this.#requireActive();
    const { state, agent } = this.domain.status;
    if (state !== "Running") throw this.#failure("DOMAIN_STATE", `the guest is ${state}`);
    if (agent !== "connected") throw this.#failure("DOMAIN_AGENT", "the agent is not connected");
  }

  #failure(code: Parameters<typeof guestFailure>[0], message: string): Error {
    return guestFailure(code, message, this.domain.status.name);
  }

  async #ofAgent<T>(
    verb: GuestVerb,
    options: CallOptions | undefined,
    answer: () => T,
  ): Promise<T> {
    return await this.#read(verb, deadlines.read, options, async () => {
      this.#requireAgent();
      return answer();
    });
  }

  async #change<T>(
    verb: GuestVerb,
    options: CallOptions | undefined,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const call: VerbCall = { verb, timeout: deadlines.verb, order: "turn", options };
    return await this.#calls.run(call, work);
  }

  async #read<T>(
    verb: GuestVerb,
    timeout: number,
    options: CallOptions | undefined,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    return await this.#calls.run({ verb, timeout, order: "beside", options }, work);
  }
}
