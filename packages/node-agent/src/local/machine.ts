import { join } from "node:path";
import type { DomainStatus } from "@virtkit/domain-manager";
import type { LauncherClient } from "@virtkit/launcher/client";
import { isNodeAgentError } from "../node-agent-error.ts";
import { hasEnded } from "../sandbox/process-identity.ts";
import { isAlive, localLauncher, removeLocalSandbox, stopLocalSandbox } from "./local-sandbox.ts";
import { type MachineRecord, removeRecord } from "./machine-record.ts";
import { openMachine } from "./open-machine.ts";

/** Below the state directory: what the node agent keeps, as journals, claims and traces. */
export function agentDirectory(stateDirectory: string): string {
  return join(stateDirectory, "agent");
}

/** Connects to the launcher of a machine that runs. */
export async function connectMachine(
  stateDirectory: string,
  record: MachineRecord,
  options: { readonly readyTimeout?: number } = {},
): Promise<LauncherClient> {
  using sandbox = openMachine(stateDirectory, record);
  // Loaded on use, here and below: to list machines that have ended takes none of it.
  const { reachLauncher } = await import("../run/reach-launcher.ts");
  return await reachLauncher(record.vmi, sandbox, options);
}

/** Whether a guest has passed its readiness probe; true without one, and undefined where it does not run. */
export function readinessOf({ state, status }: MachineState): boolean | undefined {
  if (state !== "Running") return undefined;
  return (status?.probes?.readiness?.state ?? "passing") === "passing";
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
    await using guest = await connectMachine(stateDirectory, record, { readyTimeout: 0 });
    const status = await guest.status({ timeout: 5_000 });
    return { state: status.state === "Absent" ? "Starting" : status.state, status };
  } catch {
    return { state: isAlive(stateDirectory, record.podUid) ? "Starting" : "Ended" };
  }
}

/**
 * Whether a machine can be removed without ending a guest that runs or is being started: it has ended, or
 * whoever was starting it has.
 */
export async function isAbandoned(stateDirectory: string, record: MachineRecord): Promise<boolean> {
  const { state } = await machineState(stateDirectory, record);
  if (state !== "Ended" && state !== "Shutoff" && state !== "Starting") return false;
  if (hasEnded(record.starter)) return true;
  // Its starter lives: what does not run yet is being started, unless the trace tells that this is over.
  return state !== "Starting" && (await wasStarted(stateDirectory, record));
}

async function wasStarted(stateDirectory: string, { vmi }: MachineRecord): Promise<boolean> {
  const { readTrace } = await import("../trace/trace.ts");
  const trace = readTrace(agentDirectory(stateDirectory), vmi.metadata?.uid ?? "");
  return trace.some(
    ({ stage, state = "done" }) =>
      state === "failed" || (stage === "guest-running" && state === "done"),
  );
}

/** How {@link stopMachine} stops. */
export interface StopOptions {
  /** Seconds that the guest has to shut down; 0 kills it at once. Default: its own grace period. */
  readonly gracePeriod?: number;
  readonly signal?: AbortSignal;
}

/**
 * Asks the guest to shut down, kills it when its grace period is over, and gives back its cgroup and
 * network. Resolves when nothing of it runs, which its empty cgroup proves. What it wrote stays until
 * {@link removeMachine}. Writes nothing, so that it works on a full disk; several may stop one machine at once.
 */
export async function stopMachine(
  stateDirectory: string,
  record: Pick<MachineRecord, "name" | "podUid" | "vmi">,
  options: StopOptions = {},
): Promise<void> {
  try {
    using sandbox = openMachine(stateDirectory, record);
    const { endGuest } = await import("../run/stop-guest.ts");
    await endGuest(record.vmi, sandbox, { readyTimeout: 10_000, ...options });
  } catch (error) {
    // A launcher that has ended, perhaps under our hands by another stop, or never came is ended with all
    // that is in its cgroup.
    const codes: readonly string[] = ["AGENT_SANDBOX_GONE", "AGENT_TIMEOUT"];
    const isOver =
      (isNodeAgentError(error) && codes.includes(error.code)) ||
      localLauncher(stateDirectory, record.podUid) === undefined;
    // Whoever does not give the guest any time does not wait for its launcher's word either.
    if (!isOver && options.gracePeriod !== 0) throw error;
  }
  await stopLocalSandbox(stateDirectory, record.podUid);
}

/** Removes all that there is of a machine; one that runs is killed. After a crash at any point it can be repeated. */
export async function removeMachine(stateDirectory: string, record: MachineRecord): Promise<void> {
  const { RunClaims } = await import("../claims/run-claims.ts");
  const { teardown } = await import("../prepare/teardown.ts");
  const { removeTrace } = await import("../trace/trace.ts");
  const agent = agentDirectory(stateDirectory);
  await removeLocalSandbox(stateDirectory, record.podUid);
  await teardown(record.podUid, { stateDirectory: agent });
  new RunClaims(agent).forget(record);
  removeTrace(agent, record.vmi.metadata?.uid ?? "");
  await removeRecord(stateDirectory, record);
}
