import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { LabError } from "./lab-error.ts";
import { type RunOptions, runProgram } from "./run-program.ts";

/** How {@link createSandbox} shapes a sandbox. */
export interface SandboxOptions {
  /** Host name inside. */
  readonly hostname: string;
  /**
   * Whether the sandbox has a network of its own (only `lo`), shares the one of this process, or
   * joins the namespace of a file, such as `/run/netns/blue`.
   */
  readonly network: SandboxNetwork;
  /** Shell commands to run as root inside before the sandbox is ready: mostly mounts. */
  readonly setup: readonly string[];
}

/** The network of a sandbox. */
export type SandboxNetwork = "own" | "host" | { readonly path: string };

/**
 * Namespaces (mount, UTS, IPC, PID, and network on request) held by one process.
 *
 * They have no names and their mounts are private: when the sandbox is disposed of, or this process
 * dies in any way, the kernel ends every process inside and nothing of it is left.
 */
export interface Sandbox extends AsyncDisposable {
  /** The program and arguments that run a command inside, as root. */
  command(program: string, args: readonly string[]): [program: string, args: string[]];
  /** Runs a program inside, as root, to its end; returns its stdout. */
  run(program: string, args: readonly string[], options?: RunOptions): Promise<string>;
}

/**
 * PID 1 of a sandbox: reaps orphans, and ends when the pipe on its stdin closes. A background job
 * would read /dev/null instead of that pipe, hence the copy on descriptor 3.
 */
const init = "exec 3<&0; cat <&3 >/dev/null & wait $!";

/** Creates a sandbox and waits until its set-up has run. Needs root. */
export async function createSandbox({
  hostname,
  network,
  setup,
}: SandboxOptions): Promise<Sandbox> {
  const script = [
    "set -e",
    "mount --make-rprivate /",
    'hostname "$1"',
    ...(network === "own" ? ["ip link set lo up"] : []),
    ...setup,
    "echo ready",
    init,
  ].join("\n");
  const flags = ["--mount", "--uts", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc"];
  if (network === "own") flags.push("--net");
  const unshare = ["unshare", ...flags, "bash", "-c", script, "init", hostname];
  const join = typeof network === "object" ? ["nsenter", `--net=${network.path}`] : [];
  const [program = "", ...args] = [...join, ...unshare];
  const holder = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"] });
  await untilReady(holder);
  const command = (program: string, args: readonly string[]): [string, string[]] => [
    "nsenter",
    [...namespaceFlags(holder.pid ?? 0, network), "--", program, ...args],
  ];
  return {
    command,
    run: async (program, args, options) => await runProgram(...command(program, args), options),
    [Symbol.asyncDispose]: async () => await end(holder),
  };
}

/** `unshare` itself stays in the old PID namespace, so the new one goes by its children's link. */
function namespaceFlags(pid: number, network: SandboxNetwork): string[] {
  const flags = ["mnt:mount", "uts:uts", "ipc:ipc", "pid_for_children:pid"].map((pair) => {
    const [link, flag] = pair.split(":");
    return `--${flag}=/proc/${pid}/ns/${link}`;
  });
  return network === "host" ? flags : [...flags, `--net=/proc/${pid}/ns/net`];
}

async function untilReady(holder: ChildProcess): Promise<void> {
  let said = "";
  holder.stderr?.on("data", (chunk) => {
    said += String(chunk);
  });
  holder.stdin?.on("error", () => {});
  const ready = new Promise<boolean>((resolve) => {
    holder.stdout?.once("data", () => resolve(true));
    holder.once("close", () => resolve(false));
    holder.once("error", (error) => {
      said += error.message;
      resolve(false);
    });
  });
  if (await ready) return;
  throw new LabError("LAB_NOT_READY", `the sandbox could not be set up: ${said.trim()}`);
}

/**
 * PID 1 is the last one to be reaped: once it has ended, the kernel has ended all others inside.
 */
async function end(holder: ChildProcess): Promise<void> {
  if (holder.exitCode !== null || holder.signalCode !== null) return;
  const exited = once(holder, "exit");
  holder.stdin?.end();
  const timer = setTimeout(() => holder.kill("SIGKILL"), 5_000);
  await exited;
  clearTimeout(timer);
}
