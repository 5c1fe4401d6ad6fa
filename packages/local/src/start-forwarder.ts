import { type ChildProcess, spawn } from "node:child_process";
import type { Duplex } from "node:stream";
import { fileURLToPath } from "node:url";
import { type Clock, realClock } from "@virtkit/api/clock";
import { planChild } from "@virtkit/host-primitives/children";
import { NodeAgentError } from "@virtkit/node-agent/errors";
import { type ForwarderTask, ready } from "./forward-ports.ts";

/** Memory of the forwarder, which is in the Pod's cgroup but not part of the Pod's request. */
export const forwarderBytes: number = 96 << 20;

const program = fileURLToPath(new URL("../bin/virtkit-forward-ports.js", import.meta.url));

/**
 * Small, and without a compiler: it moves buffers. The first to be killed if the Pod runs out of
 * memory: then a port is lost, not the guest.
 */
const nodeFlags = ["--lite-mode", "--max-semi-space-size=1", "--max-old-space-size=32"];
const oomScoreAdjust = 1000;

const startTimeout = 20_000;

/**
 * Starts the process that forwards the published ports to the Pod, in the Pod's cgroup; resolves
 * once all of them are open. It lives as long as someone holds the other end of its lifeline: pass
 * the result to the launcher as a descriptor, then destroy it.
 *
 * @throws NodeAgentError if a port is unavailable.
 */
export async function startForwarder(
  task: ForwarderTask,
  cgroups: readonly string[],
  {
    clock = realClock,
    signal,
  }: { readonly clock?: Clock | undefined; readonly signal?: AbortSignal | undefined } = {},
): Promise<Duplex> {
  signal?.throwIfAborted();
  const { command, args } = planChild({
    command: process.execPath,
    args: [...nodeFlags, program, JSON.stringify(task)],
    cgroups,
    oomScoreAdjust,
  });
  const child = spawn(command, args, {
    // Detached from this terminal: Ctrl-C must not reach it.
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "pipe"],
    cwd: "/",
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" },
  });
  child.unref();
  const lifeline = child.stdio[3] as Duplex;
  const kill = (): unknown => child.kill("SIGKILL");
  const late = clock.setTimeout(kill, startTimeout);
  signal?.addEventListener("abort", kill);
  try {
    const answer = await answerOf(child);
    signal?.throwIfAborted();
    if (answer === ready) return lifeline;
    const isRefused = child.exitCode === 2;
    const message = isRefused ? answer : `publish: the forwarder did not start: ${answer}`;
    throw new NodeAgentError(isRefused ? "AGENT_ARGUMENT" : "AGENT_SANDBOX", message, {
      path: "publish",
    });
  } catch (error) {
    lifeline.destroy();
    throw error;
  } finally {
    clock.clearTimeout(late);
    signal?.removeEventListener("abort", kill);
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
}

/** That it is ready, or everything that it printed before it ended. */
async function answerOf(child: ChildProcess): Promise<string> {
  return await new Promise((resolve) => {
    let said = "";
    let complained = "";
    child.stdout?.on("data", (chunk) => {
      said = `${said}${String(chunk)}`.slice(0, 1000);
      if (said === `${ready}\n`) resolve(ready);
    });
    child.stderr?.on("data", (chunk) => {
      complained = `${complained}${String(chunk)}`.slice(-1000);
    });
    child.on("error", ({ message }) => resolve(message));
    child.on("close", (code, signal) => {
      resolve(said.trim() || complained.trim() || `it ended with ${code ?? signal}`);
    });
  });
}
