import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { ProofOfEnd } from "@virtkit/api/grant";

const script = fileURLToPath(new URL("./launcher-child.mjs", import.meta.url));

/** What a child says. */
interface Told {
  readonly at?: string;
  readonly time?: number;
  readonly ready?: boolean;
  readonly outcome?: Outcome | undefined;
  readonly answered?: string;
  readonly error?: { readonly path?: string; readonly message?: string };
}

/** How a child's part of a migration ended, as plain data. */
export type Outcome = Readonly<Record<string, unknown>>;

const hasEnded = (told: Told): boolean => told.outcome !== undefined;

/** A launcher in its own process; see `launcher-child.mjs`. */
export class ChildLauncher {
  /** The seams that it has reached, with the time. */
  readonly seams: (readonly [seam: string, time: number])[] = [];
  readonly #child: ChildProcess;
  readonly #told: Told[] = [];
  readonly #waiting = new Set<() => void>();

  private constructor() {
    this.#child = fork(script, { execArgv: [], stdio: ["ignore", "inherit", "inherit", "ipc"] });
    this.#child.on("message", (message: Told) => {
      if (message.at !== undefined) this.seams.push([message.at, message.time ?? 0]);
      this.#told.push(message);
      for (const wake of this.#waiting) wake();
    });
    this.#child.on("exit", () => {
      for (const wake of this.#waiting) wake();
    });
  }

  static async start(config: object): Promise<ChildLauncher> {
    const launcher = new ChildLauncher();
    launcher.#child.send({ start: config });
    await launcher.#next((told) => told.ready || hasEnded(told), "it is ready");
    return launcher;
  }

  /** Waits until it has stopped at a seam. Throws if its part ends before. */
  async reached(seam: string): Promise<void> {
    const what = `it is at ${seam}`;
    const { at, outcome } = await this.#next((told) => told.at === seam || hasEnded(told), what);
    if (at === seam) return;
    throw new Error(`its part has ended before ${what}: ${JSON.stringify(outcome)}`);
  }

  /**
   * Lets time pass for a launcher that drives. It waits without end for every answer until something has been broken: what
   * takes long before that is slow because the host is busy.
   */
  letTimePass(): void {
    if (this.#child.connected) this.#child.send({ time: true });
  }

  /** Lets it continue from a seam, if it is alive. */
  go(seam: string): void {
    if (this.#child.connected) this.#child.send({ go: seam });
  }

  /** Gives a target evidence that its source has ended, as its node agent does with the grant. */
  prove(proofs: readonly ProofOfEnd[]): void {
    if (this.#child.connected) this.#child.send({ proofs });
  }

  async ask(what: "abort" | "postcopy"): Promise<Told["error"]> {
    this.#child.send({ [what]: true });
    return (await this.#next((told) => told.answered === what, `${what} is answered`)).error;
  }

  async outcome(): Promise<Outcome> {
    return (await this.#next(hasEnded, "it has ended")).outcome ?? {};
  }

  get hasOutcome(): boolean {
    return this.#told.some(hasEnded);
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await ended;
  }

  async #next(wanted: (told: Told) => boolean | undefined, what: string): Promise<Told> {
    // A guard against hanging.
    const end = Date.now() + 180_000;
    for (;;) {
      const found = this.#told.find(wanted);
      if (found) return found;
      if (this.#child.exitCode !== null || this.#child.signalCode !== null || Date.now() > end) {
        const said = JSON.stringify(this.#told.slice(-5));
        throw new Error(`the launcher ended or took too long before ${what}; its output: ${said}`);
      }
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          this.#waiting.delete(wake);
          clearTimeout(timer);
          resolve();
        };
        const timer = setTimeout(wake, 1_000);
        this.#waiting.add(wake);
      });
    }
  }
}
