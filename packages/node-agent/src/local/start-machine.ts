import { randomUUID } from "node:crypto";
import { chown, mkdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { TraceEntry } from "@virtkit/api/timeline";
import type { DomainStatus, GuestEvent, MayRun } from "@virtkit/domain-manager";
import { ProcessHandle } from "@virtkit/host-primitives/process";
import type { ClusterObjects } from "@virtkit/launcher-pod";
import { NodeAgentError } from "../node-agent-error.ts";
import type { RunningGuest } from "../run/run-guest.ts";
import { identityOf } from "../sandbox/process-identity.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { Trace } from "../trace/trace.ts";
import type { Accel } from "./local-accel.ts";
import { localNames } from "./local-names.ts";
import { isPortFree, type PublishedPort } from "./local-network.ts";
import { createLocalSandbox, removeLocalSandbox } from "./local-sandbox.ts";
import { agentDirectory, isAbandoned, removeMachine } from "./machine.ts";
import { addRecord, type MachineRecord, readRecord } from "./machine-record.ts";
import type { OpenHostDisks } from "./open-host-disks.ts";
import { openMachine } from "./open-machine.ts";
import type { MachinePlan } from "./plan-machine.ts";
import { launcherUid, type VolumeSources } from "./pod-volumes.ts";
import { tryTool } from "./run-tool.ts";

/** What {@link startMachine} starts. */
export interface StartMachineOptions {
  /** Where all of local mode keeps its files. */
  readonly stateDirectory: string;
  /** As its user wrote it. */
  readonly vmi: VirtualMachineInstance;
  readonly accel: Accel;
  readonly published?: readonly PublishedPort[];
  /** Images, and the Secrets and ConfigMaps that stand beside the VMI. */
  readonly sources?: VolumeSources;
  /** What the Pod's rendering looks up. */
  readonly objects?: ClusterObjects;
  /**
   * Absolute paths of directories below which a hostDisk may be. By default none, and a VMI with a hostDisk
   * is refused, as in a cluster with the feature gate HostDisk off.
   */
  readonly allowedHostDiskDirectories?: readonly string[];
  /** Told of every handoff as it happens; of one that waits, and of one that failed. */
  readonly onHandoff?: (entry: TraceEntry) => void;
  readonly onStatus?: (status: DomainStatus) => void;
  readonly onEvent?: (event: GuestEvent) => void;
  readonly signal?: AbortSignal;
}

/** A machine that was started. Disposing of it ends the watch; the machine runs on. */
export interface StartedMachine extends AsyncDisposable {
  readonly record: MachineRecord;
  readonly guest: RunningGuest;
}

/**
 * Runs a VMI on this host, with no Kubernetes: admits it, renders its Pod, does for the Pod what a kubelet
 * would, and then what a node agent does. Resolves when the guest runs. Needs root.
 *
 * The machine is on record before its first part is made, so that `removeMachine` takes everything back
 * whatever happens to this process. One of the same name
 * that has ended, or whose start was cut off, is removed first.
 *
 * @throws NodeAgentError where a machine of this name runs, where the VMI is refused, or where a part could
 *   not be made; what was made stays, to be looked at.
 */
export async function startMachine(options: StartMachineOptions): Promise<StartedMachine> {
  const { stateDirectory, accel, published = [], signal } = options;
  requireRoot();
  const podUid = randomUUID();
  // Admission and conversion are most of the code, and only a start needs them.
  const [{ planMachine }, hostDiskModule, { runGuest }] = await Promise.all([
    import("./plan-machine.ts"),
    import("./open-host-disks.ts"),
    import("../run/run-guest.ts"),
  ]);
  const plan = planMachine({ ...options, podUid, vmiUid: randomUUID(), now: new Date() });
  const record = recordOf(plan, podUid, accel, published);
  using hostDisks = new hostDiskModule.OpenHostDisks(plan.hostDisks, stateDirectory);
  await takeName(stateDirectory, record);
  const trace = new ToldTrace(stateDirectory, record, options.onHandoff);
  for (const stage of ["admitted", "pod-created", "scheduled"] as const) trace.note({ stage });
  await makeSandbox(options, plan, record, hostDisks, trace);
  const sandbox = openMachine(stateDirectory, record);
  try {
    const guest = await runGuest(plan.vmi, sandbox, {
      stateDirectory: agentDirectory(stateDirectory),
      environment: plan.environment,
      trace,
      claim: (vmi, itsSandbox) => claimOnRecord(stateDirectory, record, vmi, itsSandbox),
      ...(options.onStatus ? { onStatus: options.onStatus } : {}),
      ...(options.onEvent ? { onEvent: options.onEvent } : {}),
      ...(signal ? { signal } : {}),
    });
    const dispose = async (): Promise<void> => {
      await guest[Symbol.asyncDispose]();
      sandbox[Symbol.dispose]();
    };
    return { record, guest, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    sandbox[Symbol.dispose]();
    if (!(await isOnRecord(stateDirectory, record))) {
      await removeLocalSandbox(stateDirectory, podUid);
    }
    throw error;
  }
}

/** Claims the right to run, and gives it up where somebody has removed the machine meanwhile. */
async function claimOnRecord(
  stateDirectory: string,
  record: MachineRecord,
  { metadata }: VirtualMachineInstance,
  sandbox: Sandbox,
): Promise<MayRun> {
  const { RunClaims } = await import("../claims/run-claims.ts");
  const { namespace, name } = record;
  const claims = new RunClaims(agentDirectory(stateDirectory));
  const mayRun = await claims.claim({ namespace, name, uid: metadata?.uid ?? "" }, sandbox);
  if (await isOnRecord(stateDirectory, record)) return mayRun;
  const message = `${name} was removed while it was being started; start it again`;
  throw new NodeAgentError("AGENT_SANDBOX_GONE", message, { path: name });
}

async function isOnRecord(stateDirectory: string, record: MachineRecord): Promise<boolean> {
  const current = await readRecord(stateDirectory, record.namespace, record.name);
  return current?.podUid === record.podUid;
}

function requireRoot(): void {
  if (process.getuid?.() === 0) return;
  const message =
    "a machine is started by root; run it again with sudo -E; virtkit doctor tells what else";
  throw new NodeAgentError("AGENT_ARGUMENT", message, { path: "uid" });
}

function recordOf(
  { vmi }: MachinePlan,
  podUid: string,
  accel: Accel,
  published: readonly PublishedPort[],
): MachineRecord {
  const { namespace = "default", name = "", creationTimestamp } = vmi.metadata ?? {};
  const createdAt = String(creationTimestamp);
  using self = ProcessHandle.open(process.pid);
  const starter = identityOf(self);
  return { version: 1, namespace, name, podUid, createdAt, vmi, accel, published, starter };
}

/** Puts the record in place, and what has ended under the same name out of the way. */
async function takeName(stateDirectory: string, record: MachineRecord): Promise<void> {
  const { namespace, name } = record;
  while (!(await addRecord(stateDirectory, record))) {
    const old = await readRecord(stateDirectory, namespace, name);
    if (!old) continue;
    if (!(await isAbandoned(stateDirectory, old))) {
      const message = `${name} runs already; join it with: virtkit console ${name}, or end it with: virtkit stop ${name}`;
      throw new NodeAgentError("AGENT_CLAIM_HELD", message, { path: "metadata.name" });
    }
    await removeMachine(stateDirectory, old);
  }
}

async function makeSandbox(
  { stateDirectory, published = [], sources = {}, signal }: StartMachineOptions,
  plan: MachinePlan,
  record: MachineRecord,
  hostDisks: OpenHostDisks,
  trace: Trace,
): Promise<void> {
  const { podUid } = record;
  try {
    const { launcherNodeFlags } = await import("@virtkit/launcher/client");
    await checkPorts(published);
    await makeContainerDisks(stateDirectory, podUid);
    await createLocalSandbox({
      stateDirectory,
      pod: plan.pod,
      podUid,
      launcher: launcherProgram(),
      nodeOptions: launcherNodeFlags,
      limits: plan.limits,
      devices: plan.devices,
      published,
      sources,
      ...(signal ? { signal } : {}),
    });
    if (plan.hostDisks.length > 0) {
      using sandbox = openMachine(stateDirectory, record);
      await hostDisks.mount(sandbox);
    }
    trace.note({ stage: "pod-running" });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    trace.note({ stage: "pod-running", state: "failed", message });
    throw error;
  }
}

async function checkPorts(published: readonly PublishedPort[]): Promise<void> {
  const { stdout: rules } = published.length > 0 ? await tryTool("nft", listRules) : { stdout: "" };
  for (const port of published) {
    if (!isPublished(port, rules) && (await isPortFree(port))) continue;
    const message = `port ${port.host} of this host is taken; choose another one: --publish PORT:${port.guest}`;
    throw new NodeAgentError("AGENT_ARGUMENT", message, { path: "publish" });
  }
}

const listRules = ["list", "ruleset", "ip"];

/** Whether another machine has the port, in whichever state directory: nobody listens on one that is published. */
function isPublished({ protocol, host }: PublishedPort, rules: string): boolean {
  return rules.includes(`${protocol} dport ${host} dnat `);
}

/** Where the node agent mounts the disks of images; the launcher's own, so that it may look into it. */
async function makeContainerDisks(stateDirectory: string, podUid: string): Promise<void> {
  const { directory } = localNames(stateDirectory, podUid);
  const folder = join(directory, "volumes/kubernetes.io~empty-dir/public/container-disks");
  await mkdir(folder, { recursive: true });
  await chown(folder, launcherUid, launcherUid);
}

function launcherProgram(): string {
  const { resolve } = createRequire(import.meta.url);
  return join(dirname(resolve("@virtkit/launcher/package.json")), "bin/virtkit-launcher.js");
}

/** A trace that tells somebody at once. */
class ToldTrace extends Trace {
  readonly #tell: ((entry: TraceEntry) => void) | undefined;
  readonly #told = new Set<string>();

  constructor(
    stateDirectory: string,
    { vmi }: MachineRecord,
    tell: ((entry: TraceEntry) => void) | undefined,
  ) {
    super(agentDirectory(stateDirectory), vmi.metadata?.uid ?? "");
    this.#tell = tell;
  }

  override note(entry: TraceEntry): void {
    super.note(entry);
    const key = `${entry.stage} ${entry.state ?? "done"}`;
    if (this.#told.has(key)) return;
    this.#told.add(key);
    this.#tell?.({ at: new Date().toISOString(), ...entry });
  }
}
