import { type ChildProcess, spawn } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { type Clock, realClock, until } from "@virtkit/api/clock";
import type { Log, Metrics } from "@virtkit/api/observe";
import { hasErrno, isHostError } from "@virtkit/host-primitives";
import { ProcessHandle } from "@virtkit/host-primitives/process";
import { LauncherError } from "../launcher-error.ts";
import { BackOff } from "./back-off.ts";
import { type LibvirtdHome, libvirtdEnvironment } from "./libvirtd-files.ts";

/** How {@link Libvirtd} is run. */
export interface LibvirtdOptions {
  /** Path of the program. */
  readonly program: string;
  readonly home: LibvirtdHome;
  readonly log: Log;
  readonly metrics?: Metrics | undefined;
  readonly clock?: Clock;
}

const firstDelay = 1_000;
const lastDelay = 30_000;
/** How long a daemon that was asked to end may take before it is killed. */
const endTimeout = 5_000;

/**
 * A libvirtd that is restarted whenever it ends. Its guests do not depend on it: they keep running
 * while it is away, and it finds them again.
 */
export class Libvirtd implements AsyncDisposable {
  readonly #options: LibvirtdOptions;
  readonly #clock: Clock;
  readonly #backOff = new BackOff(firstDelay, lastDelay);
  #child: ChildProcess | undefined;
  #timer: unknown;
  #closed = false;
  #starts = 0;

  constructor(options: LibvirtdOptions) {
    this.#options = options;
    this.#clock = options.clock ?? realClock;
  }

  /** How often it has been started. */
  get starts(): number {
    return this.#starts;
  }

  /**
   * Starts the daemon; resolves when the program runs, which is before it accepts connections. Ends
   * a daemon that an earlier launcher left behind, because two cannot have the same guests.
   */
  async start(): Promise<void> {
    await this.#endLeftover();
    await rm(this.#options.home.socket, { force: true });
    await this.#spawn();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#clock.clearTimeout(this.#timer);
    const child = this.#child;
    if (!child || hasEnded(child)) return;
    const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    const timer = this.#clock.setTimeout(() => child.kill("SIGKILL"), endTimeout);
    child.kill("SIGTERM");
    await ended;
    this.#clock.clearTimeout(timer);
  }

  async #spawn(): Promise<void> {
    const { program, home } = this.#options;
    const since = this.#clock.now();
    const child = spawn(program, ["-p", home.pidFile], {
      env: libvirtdEnvironment(home),
      stdio: ["ignore", "inherit", "inherit"],
    });
    this.#child = child;
    this.#starts++;
    this.#options.metrics?.count("libvirtd_starts");
    child.once("exit", (code, signal) => {
      this.#again(`it ended with ${code ?? signal}`, this.#clock.now() - since);
    });
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", (cause) => reject(notStarted(program, cause)));
    });
  }

  #again(why: string, ranFor: number): void {
    if (this.#closed) return;
    const delay = this.#backOff.after(ranFor);
    const { log, program } = this.#options;
    log.warn({ why, delay }, "libvirtd is being restarted; guests keep running");
    this.#timer = this.#clock.setTimeout(() => {
      this.#spawn().catch((error: unknown) => this.#again(notStarted(program, error).message, 0));
    }, delay);
  }

  async #endLeftover(): Promise<void> {
    // Without a file there is none that was left behind.
    const text = await readFile(this.#options.home.pidFile, "utf8").catch(() => "");
    const pid = /^\s*(\d{1,7})\s*$/.exec(text)?.[1];
    if (pid === undefined || Number(pid) === process.pid) return;
    try {
      using leftover = ProcessHandle.open(Number(pid));
      // A pid file outlives its process, and the pid may belong to any process by now.
      if (leftover.read("comm").trim() !== "libvirtd") return;
      this.#options.log.info({ pid: Number(pid) }, "ending the libvirtd of an earlier launcher");
      leftover.signal(15);
      await this.#untilGone(leftover);
    } catch (error) {
      if (isHostError(error) && error.code === "HOST_PROCESS_GONE") return;
      if (!hasErrno(error, "EPERM")) throw error;
    }
  }

  async #untilGone(leftover: ProcessHandle): Promise<void> {
    const isGone = (): boolean =>
      !leftover.isAlive() || /^State:\s*Z/m.test(leftover.read("status"));
    const often = { clock: this.#clock, interval: 20 };
    if (await until(isGone, { ...often, timeout: endTimeout })) return;
    leftover.signal(9);
    await until(isGone, often);
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function notStarted(program: string, cause: unknown): LauncherError {
  const why = cause instanceof Error ? cause.message : String(cause);
  const text = `${program} cannot be started: ${why}; give its path with --libvirtd`;
  return new LauncherError("LAUNCHER_LIBVIRTD", text, { path: program, cause });
}
