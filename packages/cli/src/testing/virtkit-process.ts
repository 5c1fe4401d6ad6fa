import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Run } from "./run-virtkit.ts";

/** The command, as it is installed. */
export const program: string = fileURLToPath(new URL("../../bin/virtkit.js", import.meta.url));

/** A `virtkit` in its own process, as a user starts it, with its output so far. */
export class VirtkitProcess {
  readonly child: ChildProcess;
  #out = "";
  #err = "";
  #onSaid = (): void => {};
  readonly #ended: Promise<number>;

  constructor(args: readonly string[], env: Readonly<Record<string, string>>) {
    this.child = spawn(process.execPath, [program, ...args], { env: { ...process.env, ...env } });
    this.child.stdout?.on("data", (chunk) => {
      this.#out += String(chunk);
      this.#onSaid();
    });
    this.child.stderr?.on("data", (chunk) => {
      this.#err += String(chunk);
      this.#onSaid();
    });
    this.#ended = new Promise((resolve) => {
      this.child.on("close", (code) => resolve(code ?? -1));
    });
  }

  get out(): string {
    return this.#out;
  }

  get err(): string {
    return this.#err;
  }

  type(keys: string): void {
    this.child.stdin?.write(keys);
  }

  /** Waits until its messages match; throws them if it ends before. */
  async untilSaid(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.#err) && !pattern.test(this.#out)) {
      const next = new Promise<"said">((resolve) => {
        this.#onSaid = () => resolve("said");
      });
      const what = await Promise.race([next, this.#ended]);
      if (what !== "said" && !pattern.test(this.#err) && !pattern.test(this.#out)) {
        throw new Error(`ended with ${what} and without ${pattern}: ${this.#err}${this.#out}`);
      }
    }
  }

  async end(): Promise<Run> {
    const code = await this.#ended;
    return { code, out: this.#out, err: this.#err };
  }
}
