import { Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { names } from "@virtkit/api/names";
import type { DomainStatus } from "@virtkit/domain-manager";
import { isHostError } from "@virtkit/host-primitives";
import { ProcessHandle } from "@virtkit/host-primitives/process";
import { connectUnix } from "@virtkit/host-primitives/sockets";
import { connectLauncher, dialSafely, type LauncherClient } from "@virtkit/launcher/client";
import { RunClaims } from "../claims/run-claims.ts";
import { NodeAgentError } from "../node-agent-error.ts";
import { teardown } from "../prepare/teardown.ts";
import { removeTrace } from "../trace/trace.ts";
import { isAlive, localLauncher, removeLocalSandbox, stopLocalSandbox } from "./local-sandbox.ts";
import { type MachineRecord, removeRecord } from "./machine-record.ts";

/** Below the state directory: what the node agent keeps, as journals, claims and traces. */
export function agentDirectory(stateDirectory: string): string {
  return join(stateDirectory, "agent");
}

/** The machine's launcher as an open process. Throws `AGENT_SANDBOX_GONE` where it has ended. */
export function openLauncher(stateDirectory: string, record: MachineRecord): ProcessHandle {
  const pid = localLauncher(stateDirectory, record.podUid);
  try {
    if (pid !== undefined) return ProcessHandle.open(pid);
  } catch (error) {
    if (!isHostError(error) || error.code !== "HOST_PROCESS_GONE") throw error;
  }
  const name = record.name;
  const message = `${name} does not run; start it again with virtkit run, or remove it: virtkit rm ${name}`;
  throw new NodeAgentError("AGENT_SANDBOX_GONE", message, { path: name });
}

/** Connects to the launcher of a machine that runs. */
export async function connectMachine(
  stateDirectory: string,
  record: MachineRecord,
): Promise<LauncherClient> {
  using launcher = openLauncher(stateDirectory, record);
  using root = launcher.openRoot();
  using socket = root.resolve(names().sockets.launcher, "socket");
  return await connectLauncher({ dial: dialSafely(socket) });
}

/** Opens the guest's serial console. QEMU serves one client at a time: another one waits for its turn. */
export async function openConsole(stateDirectory: string, record: MachineRecord): Promise<Socket> {
  using launcher = openLauncher(stateDirectory, record);
  using root = launcher.openRoot();
  using path = root.resolve(names().sockets.serial(record.vmi.metadata?.uid ?? ""), "socket");
  const connection = await connectUnix(path, {});
  return new Socket({ fd: connection.release(), readable: true, writable: true });
}

/** How a machine is now. */
export interface MachineState {
  /** `Starting`: its launcher does not answer yet. `Ended`: nothing of it runs. */
  readonly state: DomainStatus["state"] | "Starting" | "Ended";
  readonly status?: DomainStatus;
}

/** Asks a machine's launcher how it is; never waits long. */
export async function machineState(
  stateDirectory: string,
  record: MachineRecord,
): Promise<MachineState> {
  if (!isAlive(stateDirectory, record.podUid)) return { state: "Ended" };
  try {
    await using guest = await connectMachine(stateDirectory, record);
    const status = await guest.status({ timeout: 5_000 });
    return { state: status.state === "Absent" ? "Starting" : status.state, status };
  } catch {
    return { state: isAlive(stateDirectory, record.podUid) ? "Starting" : "Ended" };
  }
}

/** How {@link stopMachine} stops. */
export interface StopOptions {
  /** Milliseconds that the guest may take; then it is killed. Default: its grace period. */
  readonly grace?: number;
  readonly signal?: AbortSignal;
}

const sigterm = 15;
/** What the launcher itself may take beyond the guest's grace period. */
const launcherGrace = 20_000;

/**
 * Asks the guest to shut down, kills it when its grace period is over, and gives back its cgroup and
 * network. Resolves when nothing of it runs. What it wrote stays until {@link removeMachine}.
 */
export async function stopMachine(
  stateDirectory: string,
  record: MachineRecord,
  { grace, signal }: StopOptions = {},
): Promise<void> {
  const seconds = record.vmi.spec.terminationGracePeriodSeconds ?? 30;
  const deadline = Date.now() + (grace ?? seconds * 1_000 + launcherGrace);
  try {
    using launcher = openLauncher(stateDirectory, record);
    if (grace !== 0) {
      launcher.signal(sigterm);
      await settled(stateDirectory, record, launcher, deadline, signal);
    }
  } catch (error) {
    const gone = isHostError(error) ? error.code === "HOST_PROCESS_GONE" : isGone(error);
    if (!gone) throw error;
  }
  await stopLocalSandbox(stateDirectory, record.podUid);
}

function isGone(error: unknown): boolean {
  return (Object(error) as { code?: unknown }).code === "AGENT_SANDBOX_GONE";
}

/** Waits for the launcher's end; tells it that the ended guest was seen, for which it would wait. */
async function settled(
  stateDirectory: string,
  record: MachineRecord,
  launcher: ProcessHandle,
  deadline: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  while (launcher.isAlive() && isAlive(stateDirectory, record.podUid) && Date.now() < deadline) {
    if (signal?.aborted) return;
    await seeEnded(stateDirectory, record).catch(() => undefined);
    await sleep(200);
  }
}

async function seeEnded(stateDirectory: string, record: MachineRecord): Promise<void> {
  await using guest = await connectMachine(stateDirectory, record);
  const { state } = await guest.status({ timeout: 2_000 });
  if (state === "Shutoff" || state === "Crashed") await guest.delete({ timeout: 5_000 });
}

/** Removes all that there is of a machine; one that runs is killed. After a crash at any point it can be repeated. */
export async function removeMachine(stateDirectory: string, record: MachineRecord): Promise<void> {
  await removeLocalSandbox(stateDirectory, record.podUid);
  await forgetMachine(stateDirectory, record);
  await removeRecord(stateDirectory, record);
}

async function forgetMachine(stateDirectory: string, record: MachineRecord): Promise<void> {
  const agent = agentDirectory(stateDirectory);
  await teardown(record.podUid, { stateDirectory: agent });
  new RunClaims(agent).forget(record);
  removeTrace(agent, record.vmi.metadata?.uid ?? "");
}
