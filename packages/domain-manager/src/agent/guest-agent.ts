import { type Clock, realClock, sleep, wallTime } from "@virtkit/api/clock";
import { DomainManagerError } from "../domain-manager-error.ts";
import type { DomainRef } from "../libvirt/event-hub.ts";
import type { Libvirt } from "../libvirt/libvirt.ts";
import { isLibvirtError } from "../libvirt/libvirt-error.ts";
import type { CallOptions } from "../libvirt/rpc/pending-call.ts";
import type { ExecResult, GuestFileSystem, GuestUser } from "../manager/guest-control.ts";
import type { GuestInterface, GuestOs } from "../status/domain-status.ts";
import {
  type AgentInfo,
  type GuestTimezone,
  readAgentInfo,
  readFileSystems,
  readFsFreeze,
  readHostname,
  readInterfaces,
  readOs,
  readTimezone,
  readUsers,
} from "./agent-answers.ts";
import { firstExecDelay, nextExecDelay, readExecStatus, readPid } from "./agent-exec.ts";
import { agentFailure } from "./agent-failure.ts";
import { AgentReply } from "./agent-reply.ts";

/** How {@link GuestAgent} reaches its guest. */
export interface GuestAgentOptions {
  /**
   * A connection that a hanging agent may occupy: libvirtd works on only a few calls of one
   * connection at a time.
   */
  readonly libvirt: Pick<Libvirt, "call">;
  readonly dom: DomainRef;
  /** Milliseconds for each command. Default 5 s. */
  readonly timeout?: number;
  readonly clock?: Clock;
}

/** How {@link GuestAgent.exec} runs a program. */
export interface ExecOptions extends CallOptions {
  readonly args?: readonly string[];
  /** Standard input of the program. */
  readonly input?: string;
}

/**
 * The most characters of a reply. A list has short entries; a program's output comes in base64 and
 * may be longer. libvirtd itself accepts 10 MiB from an agent and passes on 4 MiB.
 */
const replyLimit = 1 << 20;
const outputLimit = 3 << 20;

/** Milliseconds for the last check of a program when its time is up. */
const lastLook = 1_000;

/**
 * The agent in a guest, `qemu-guest-agent`, asked through libvirt.
 *
 * The guest may be hostile: every reply is bounded before it is parsed, lists and strings are cut,
 * unprintable characters are removed, and a wrong type is an error. Every call ends: by default
 * after 5 s. All errors are `DomainManagerError`s; an error of the guest has the code
 * `DOMAIN_AGENT` and names the command, never its arguments.
 */
export class GuestAgent {
  readonly #options: GuestAgentOptions;
  readonly #clock: Clock;

  constructor(options: GuestAgentOptions) {
    this.#options = options;
    this.#clock = options.clock ?? realClock;
  }

  /** Rejects if the agent does not answer in time. */
  async ping(options?: CallOptions): Promise<void> {
    await this.#ask("guest-ping", () => {}, undefined, options);
  }

  async info(options?: CallOptions): Promise<AgentInfo> {
    return await this.#ask("guest-info", readAgentInfo, undefined, options);
  }

  async os(options?: CallOptions): Promise<GuestOs> {
    return await this.#ask("guest-get-osinfo", readOs, undefined, options);
  }

  async hostname(options?: CallOptions): Promise<string> {
    return await this.#ask("guest-get-host-name", readHostname, undefined, options);
  }

  async timezone(options?: CallOptions): Promise<GuestTimezone> {
    return await this.#ask("guest-get-timezone", readTimezone, undefined, options);
  }

  async interfaces(options?: CallOptions): Promise<readonly GuestInterface[]> {
    return await this.#ask("guest-network-get-interfaces", readInterfaces, undefined, options);
  }

  async fileSystems(options?: CallOptions): Promise<readonly GuestFileSystem[]> {
    return await this.#ask("guest-get-fsinfo", readFileSystems, undefined, options);
  }

  async users(options?: CallOptions): Promise<readonly GuestUser[]> {
    return await this.#ask("guest-get-users", readUsers, undefined, options);
  }

  async fsFreezeStatus(options?: CallOptions): Promise<"frozen" | "thawed"> {
    return await this.#ask("guest-fsfreeze-status", readFsFreeze, undefined, options);
  }

  /**
   * Stops writes to all file systems; returns how many it stopped. A guest may take long to flush:
   * 60 s.
   */
  async freeze(options?: CallOptions): Promise<number> {
    return await this.#libvirt("guest-fsfreeze-freeze", 60_000, options, async (call) => {
      const args = { dom: this.#options.dom, mountpoints: [] };
      return (await this.#options.libvirt.call("domainFreeze", args, call)).fileSystems;
    });
  }

  /** Allows writes again; returns how many file systems were frozen. */
  async thaw(options?: CallOptions): Promise<number> {
    return await this.#libvirt("guest-fsfreeze-thaw", 60_000, options, async (call) => {
      const args = { dom: this.#options.dom, mountpoints: [] };
      return (await this.#options.libvirt.call("domainThaw", args, call)).fileSystems;
    });
  }

  /** Asks the guest to power off; does not wait for it. A guest that is off before its agent has answered is no error. */
  async shutdown(options?: CallOptions): Promise<void> {
    await this.#libvirt("guest-shutdown", 20_000, options, async (call) => {
      const args = { dom: this.#options.dom, flags: ["guestAgent"] } as const;
      await this.#options.libvirt.call("domainShutdown", args, call).catch(unlessQemuEnded);
    });
  }

  /** Asks the guest to reboot; does not wait for it. */
  async reboot(options?: CallOptions): Promise<void> {
    await this.#libvirt("guest-shutdown", 20_000, options, async (call) => {
      const args = { dom: this.#options.dom, flags: ["guestAgent"] } as const;
      await this.#options.libvirt.call("domainReboot", args, call);
    });
  }

  /** Sets the guest's clock, in milliseconds since 1970: it lags behind after a pause. */
  async setTime(now: number = wallTime().getTime(), options?: CallOptions): Promise<void> {
    await this.#libvirt("guest-set-time", undefined, options, async (call) => {
      const seconds = BigInt(Math.floor(now / 1000));
      const nanoseconds = Math.floor(now % 1000) * 1_000_000;
      const args = { dom: this.#options.dom, seconds, nanoseconds };
      await this.#options.libvirt.call("domainSetTime", args, call);
    });
  }

  /**
   * Runs a program in the guest and waits for its end: at most `timeout` milliseconds (by default 10 s) in
   * total, plus a second for the last check. A program that has not ended by then keeps running, because an
   * agent cannot end it. The output is as the program printed it, at most about 2 MiB: sanitize it before
   * showing it on a terminal.
   */
  async exec(
    program: string,
    { args = [], input, signal, timeout = 10_000 }: ExecOptions = {},
  ): Promise<ExecResult> {
    const end = this.#clock.now() + timeout;
    const options = (): CallOptions => ({
      signal,
      timeout: Math.max(Math.min(this.#timeout(undefined), end - this.#clock.now()), lastLook),
    });
    const start = {
      path: program,
      arg: args,
      "capture-output": true,
      ...(input === undefined ? {} : { "input-data": Buffer.from(input).toString("base64") }),
    };
    const pid = await this.#ask("guest-exec", readPid, start, options());
    for (let delay = firstExecDelay; ; delay = nextExecDelay(delay)) {
      const result = await this.#ask("guest-exec-status", readExecStatus, { pid }, options());
      if (result) return result;
      const left = end - this.#clock.now();
      if (left <= 0) throw tooLong(timeout);
      await sleep(this.#clock, Math.min(delay, left), signal);
    }
  }

  /**
   * Sends any other command: returns the value of `return` in the reply, for the caller to check.
   */
  async command<T>(
    execute: string,
    args: Readonly<object> | undefined,
    read: (reply: AgentReply) => T,
    options?: CallOptions,
  ): Promise<T> {
    return await this.#ask(execute, read, args, options);
  }

  async #ask<T>(
    execute: string,
    read: (reply: AgentReply) => T,
    args: Readonly<object> | undefined,
    options: CallOptions | undefined,
  ): Promise<T> {
    const command = JSON.stringify(args === undefined ? { execute } : { execute, arguments: args });
    const text = await this.#libvirt(execute, undefined, options, async (call) => {
      // libvirt takes whole seconds, and does not count those in which the command waits for
      // another one. The connection's own timer is the deadline; this one only frees libvirtd.
      const timeout = Math.min(Math.max(Math.ceil((call.timeout ?? 0) / 1000), 1), 3600);
      const { dom, libvirt } = this.#options;
      return (await libvirt.call("qemuAgentCommand", { dom, command, timeout }, call)).result;
    });
    const limit = execute === "guest-exec-status" ? outputLimit : replyLimit;
    return read(AgentReply.parse(execute, text, limit));
  }

  async #libvirt<T>(
    command: string,
    defaultTimeout: number | undefined,
    { signal, timeout = defaultTimeout }: CallOptions = {},
    run: (options: CallOptions) => Promise<T>,
  ): Promise<T> {
    try {
      return await run({ signal, timeout: this.#timeout(timeout) });
    } catch (error) {
      throw agentFailure(command, error);
    }
  }

  #timeout(given: number | undefined): number {
    return given ?? this.#options.timeout ?? 5_000;
  }
}

/** QEMU closes the agent's socket only when it ends: an agent that ends in the guest leaves the socket open. */
function unlessQemuEnded(error: unknown): void {
  const said = isLibvirtError(error) ? error.remote?.message : undefined;
  // A guest's own words come after others.
  if (!said?.match(/^(internal error: )?End of file from agent socket/)) throw error;
}

function tooLong(timeout: number): DomainManagerError {
  return new DomainManagerError(
    "DOMAIN_TIMEOUT",
    `guest agent, guest-exec: the program has not ended in ${timeout} ms; give it a longer timeout`,
    { path: "guest-exec" },
  );
}
