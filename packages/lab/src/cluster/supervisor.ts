import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { LabError } from "../lab-error.ts";

/** Namespaces that a new supervisor gets, as `unshare` names them. */
export type OwnNamespace = "mount" | "uts" | "ipc" | "pid" | "net";

/**
 * One process in its own namespaces, and everything that it has started. When it ends, or when this
 * process dies in any way, everything in its namespaces ends.
 */
export class Supervisor {
  readonly #holder: ChildProcess;
  /** Pid of the first process inside, as this process sees it. */
  readonly pid: number;

  private constructor(holder: ChildProcess, pid: number) {
    this.#holder = holder;
    this.pid = pid;
  }

  /** Runs a script as the first process of new namespaces, and waits until it says that it is ready. */
  static async start(script: string, namespaces: readonly OwnNamespace[]): Promise<Supervisor> {
    const flags = namespaces.map((name) => `--${name}`);
    const args = [...flags, "--propagation", "private", "--fork", "--kill-child", "--"];
    const holder = spawn("unshare", [...args, "bash", "-c", script], {
      stdio: ["pipe", "pipe", "pipe"],
      env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" },
      // A Ctrl-C in the terminal is for the process that started the cluster, which then ends it in
      // order.
      detached: true,
    });
    await untilReady(holder);
    const children = await readFile(`/proc/${holder.pid}/task/${holder.pid}/children`, "utf8");
    return new Supervisor(holder, Number(children.trim()));
  }

  get isRunning(): boolean {
    return this.#holder.exitCode === null && this.#holder.signalCode === null;
  }

  /** Starts a program, and restarts it whenever it has ended. */
  startProgram(name: string): void {
    this.#holder.stdin?.write(`${name}\n`);
  }

  /** Kills the first process, and with it all others, without warning. */
  async kill(): Promise<void> {
    if (!this.isRunning) return;
    const exited = once(this.#holder, "exit");
    // Not the holder: it waits for the first process, and that one is gone when all others are.
    if (existsSync(`/proc/${this.pid}`)) process.kill(this.pid, "SIGKILL");
    await exited;
  }

  /** The program and arguments that run a command inside, as root. */
  command(program: string, args: readonly string[]): [program: string, args: string[]] {
    const namespaces = ["--mount", "--uts", "--ipc", "--net", "--pid"];
    return ["nsenter", ["--target", `${this.pid}`, ...namespaces, "--", program, ...args]];
  }
}

async function untilReady(holder: ChildProcess): Promise<void> {
  let said = "";
  holder.stderr?.on("data", (chunk) => {
    said = (said + String(chunk)).slice(-4000);
  });
  // Whoever is ready to start programs learns from its exit that the first process is gone.
  holder.stdin?.on("error", () => {});
  const isReady = await new Promise<boolean>((resolve) => {
    holder.stdout?.once("data", () => resolve(true));
    holder.once("close", () => resolve(false));
    holder.once("error", (error) => {
      said += error.message;
      resolve(false);
    });
  });
  if (isReady) return;
  throw new LabError("LAB_NOT_READY", `the namespaces could not be set up: ${said.trim()}`);
}
