import { type Clock, wallTime } from "@virtkit/api/clock";
import { describeError, type Observers } from "@virtkit/api/observe";
import { type Random, realRandom } from "@virtkit/api/random";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { TraceEntry } from "@virtkit/api/timeline";
import type { DomainStatus, GuestEvent, MayRun } from "@virtkit/domain-manager";
import { ProcessHandle } from "@virtkit/host-primitives/process";
import type { ClusterObjects } from "@virtkit/launcher-pod";
import { NodeAgentError } from "@virtkit/node-agent/errors";
import type { RunningGuest } from "@virtkit/node-agent/run";
import type { Sandbox } from "@virtkit/node-agent/sandbox";
import { identityOf } from "@virtkit/node-agent/sandbox";
import { Trace } from "@virtkit/node-agent/trace";
import { bindPublished, closeBound } from "./bind-published.ts";
import type { ClaimFiles } from "./claim-files.ts";
import { launcherProgram, startTimeoutSeconds } from "./launcher-program.ts";
import { requireLimitControllers } from "./limit-controllers.ts";
import type { Accel } from "./local-accel.ts";
import { createLocalSandbox, removeLocalSandbox } from "./local-sandbox.ts";
import type { NetworkMode } from "./network-table.ts";
import type { OpenHostDisks } from "./open-host-disks.ts";
import { openVmiSandbox } from "./open-vmi-sandbox.ts";
import type { VmiPlan } from "./plan-vmi.ts";
import type { VolumeSources } from "./pod-volumes.ts";
import { type PublishedPort, requireDistinctPorts } from "./published-port.ts";
import { requireRoot } from "./require-root.ts";
import { keepStartNote, type StartNote } from "./start-note.ts";
import { agentDirectory, endFailedStart, isAbandoned, removeVmi } from "./vmi-life.ts";
import { addRecord, readRecord, removeRecord, type VmiRecord } from "./vmi-record.ts";

/** The input of {@link startVmi}. */
export interface StartVmiOptions extends Observers {
  /** Where all of local mode keeps its files. */
  readonly stateDirectory: string;
  /** As its user wrote it. */
  readonly vmi: VirtualMachineInstance;
  readonly accel: Accel;
  readonly published?: readonly PublishedPort[];
  /** What the guest can reach besides the outside world. Default `isolated`: nothing else. */
  readonly network?: NetworkMode;
  /** Images, and the Secrets and ConfigMaps that stand beside the VMI. */
  readonly sources?: VolumeSources;
  /** What the Pod's rendering looks up. */
  readonly objects?: ClusterObjects;
  /** The launcher's program. Default: this release's. */
  readonly launcher?: string;
  /** Processes and threads that the Pod may have; 4,096 by default. */
  readonly pidsLimit?: number;
  /**
   * Absolute paths of directories below which a hostDisk may be. By default none, and a VMI with a hostDisk
   * is refused, as in a cluster with the feature gate HostDisk off.
   */
  readonly allowedHostDiskDirectories?: readonly string[];
  /** Called for every handoff as it happens, and for one that waits or failed. */
  readonly onHandoff?: (entry: TraceEntry) => void;
  readonly onStatus?: (status: DomainStatus) => void;
  readonly onEvent?: (event: GuestEvent) => void;
  readonly clock?: Clock;
  /** The date and time. Default: the host's. */
  readonly now?: () => Date;
  /** Where UIDs come from. */
  readonly random?: Random;
  readonly signal?: AbortSignal;
}

/** A started VMI. Disposing of it ends the watch; the VMI keeps running. */
export interface StartedVmi extends AsyncDisposable {
  readonly record: VmiRecord;
  readonly guest: RunningGuest;
}

/**
 * Runs a VMI on this host, without Kubernetes: admits it, renders its Pod, does for the Pod what a
 * kubelet would, and then what a node agent does. Resolves when the guest runs. Needs root.
 *
 * The VMI is on record before its first part is created, so `removeVmi` removes everything,
 * whatever happens to this process. One of the same name that has ended, or whose start was
 * interrupted, is removed first.
 *
 * @throws NodeAgentError `AGENT_REFUSED` with everything that local mode does not support for the
 * VMI on this host, before anything is created; if a VMI of this name runs, if the VMI is invalid,
 * or if a part could not be created. Then nothing of it runs any more, unless its guest may; record
 * and trace stay for inspection until it is removed or started again.
 */
export async function startVmi(options: StartVmiOptions): Promise<StartedVmi> {
  const { stateDirectory, published = [], signal } = options;
  const { random = realRandom, now = wallTime } = options;
  signal?.throwIfAborted();
  requireRoot();
  requireDistinctPorts(published);
  requireLimitControllers();
  const podUid = random.uuid();
  // Held open until they are mounted: the guest gets exactly what was checked.
  const { openClaimFiles } = await import("./claim-files.ts");
  using claims = openClaimFiles(options.sources?.claims ?? {});
  const { refuseEarly } = await import("./refuse-early.ts");
  const { firmware } = await refuseEarly({ ...options, claims });
  // Admission and conversion are most of the code, and only a start needs them.
  const [{ planVmi }, hostDiskModule] = await Promise.all([
    import("./plan-vmi.ts"),
    import("./open-host-disks.ts"),
  ]);
  const plan = planVmi({
    ...options,
    podUid,
    vmiUid: random.uuid(),
    now: now(),
    firmware,
    claims: [...claims.files.keys()],
  });
  const record = recordOf(plan, podUid, options);
  using hostDisks = new hostDiskModule.OpenHostDisks(plan.hostDisks, stateDirectory);
  await takeName(stateDirectory, record);
  await requireFreePorts(stateDirectory, record);
  try {
    const trace = new ToldTrace(stateDirectory, record, now, options.onHandoff);
    for (const stage of ["admitted", "pod-created", "scheduled"] as const) trace.note({ stage });
    await makeSandbox(options, plan, record, { hostDisks, claims }, trace);
    return await runIn(options, plan, record, trace);
  } catch (error) {
    // Whoever lists, removes or starts the VMI finds what failed here; the first failure is
    // reported.
    const isOurs = await isOnRecord(stateDirectory, record).catch(() => true);
    const end = isOurs
      ? endFailedStart(stateDirectory, record)
      : removeLocalSandbox(stateDirectory, podUid);
    await end.catch((failure: unknown) => {
      options.log?.warn(
        { error: describeError(failure) },
        "a failed start could not be cleaned up",
      );
    });
    throw error;
  }
}

async function runIn(
  { stateDirectory, onStatus, onEvent, clock, log, metrics, signal }: StartVmiOptions,
  plan: VmiPlan,
  record: VmiRecord,
  trace: Trace,
): Promise<StartedVmi> {
  const { runGuest } = await import("@virtkit/node-agent/run");
  const sandbox = openVmiSandbox(stateDirectory, record);
  try {
    const guest = await runGuest(plan.vmi, sandbox, {
      stateDirectory: agentDirectory(stateDirectory),
      environment: plan.environment,
      trace,
      log,
      metrics,
      claim: (vmi, itsSandbox) => claimOnRecord(stateDirectory, record, vmi, itsSandbox),
      ...(onStatus ? { onStatus } : {}),
      ...(onEvent ? { onEvent } : {}),
      ...(clock ? { clock } : {}),
      ...(signal ? { signal } : {}),
    });
    const dispose = async (): Promise<void> => {
      await guest[Symbol.asyncDispose]();
      sandbox[Symbol.dispose]();
    };
    return { record, guest, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    sandbox[Symbol.dispose]();
    throw error;
  }
}

/** Claims the run grant, and gives it up if someone has removed the VMI meanwhile. */
async function claimOnRecord(
  stateDirectory: string,
  record: VmiRecord,
  { metadata }: VirtualMachineInstance,
  sandbox: Sandbox,
): Promise<MayRun> {
  const { RunClaims } = await import("@virtkit/node-agent/claims");
  const { namespace, name } = record;
  const claims = new RunClaims(agentDirectory(stateDirectory));
  const mayRun = await claims.claim({ namespace, name, uid: metadata?.uid ?? "" }, sandbox);
  if (await isOnRecord(stateDirectory, record)) return mayRun;
  const message = `${name} was removed while it was being started; start it again`;
  throw new NodeAgentError("AGENT_SANDBOX_GONE", message, { path: name });
}

async function isOnRecord(stateDirectory: string, record: VmiRecord): Promise<boolean> {
  const current = await readRecord(stateDirectory, record.namespace, record.name);
  return current?.podUid === record.podUid;
}

function recordOf(
  { vmi }: VmiPlan,
  podUid: string,
  { accel, published = [], network = "isolated" }: StartVmiOptions,
): VmiRecord {
  const { namespace = "default", name = "", creationTimestamp } = vmi.metadata ?? {};
  const createdAt = String(creationTimestamp);
  using self = ProcessHandle.open(process.pid);
  const starter = identityOf(self);
  return {
    ...{ version: 1, namespace, name, podUid, createdAt, vmi, accel, published, network },
    starter,
  };
}

/** Puts the record in place, and removes what has ended under the same name. */
async function takeName(stateDirectory: string, record: VmiRecord): Promise<void> {
  const { namespace, name } = record;
  while (!(await addRecord(stateDirectory, record))) {
    const found = await readRecord(stateDirectory, namespace, name);
    if (!found) continue;
    const old = await withoutOrphanedMove(stateDirectory, found);
    if (!(await isAbandoned(stateDirectory, old))) {
      const message = `${name} is already running; to connect to it, run: virtkit console ${name}; to end it: virtkit stop ${name}`;
      throw new NodeAgentError("AGENT_CLAIM_HELD", message, { path: "metadata.name" });
    }
    await removeVmi(stateDirectory, old);
  }
}

/** Completes a move whose mover was killed: only then it is known whether the guest runs. */
async function withoutOrphanedMove(stateDirectory: string, record: VmiRecord): Promise<VmiRecord> {
  if (!record.move) return record;
  const { isMoveOrphaned, settleMove } = await import("./settle-move.ts");
  if (!isMoveOrphaned(record)) return record;
  return (await settleMove({ stateDirectory, record }))?.record ?? record;
}

/**
 * Before anything is created. Only now, because an interrupted VMI of the same name has given its
 * ports back; a refusal gives the name back.
 */
async function requireFreePorts(stateDirectory: string, record: VmiRecord): Promise<void> {
  try {
    await closeBound(await bindPublished(record.published));
  } catch (error) {
    await removeRecord(stateDirectory, record);
    throw error;
  }
}

async function makeSandbox(
  options: StartVmiOptions,
  plan: VmiPlan,
  record: VmiRecord,
  { hostDisks, claims }: { readonly hostDisks: OpenHostDisks; readonly claims: ClaimFiles },
  trace: Trace,
): Promise<void> {
  const { stateDirectory, sources = {}, launcher = launcherProgram(), clock, signal } = options;
  const { podUid, namespace, name, published, network = "isolated" } = record;
  try {
    const { launcherNodeFlags } = await import("@virtkit/launcher/client");
    await createLocalSandbox({
      stateDirectory,
      pod: plan.pod,
      podUid,
      vmi: { namespace, name },
      launcher,
      nodeOptions: launcherNodeFlags,
      limits: plan.limits,
      devices: plan.devices,
      mounts: plan.mounts,
      published,
      network,
      sources,
      args: ["--start-timeout-seconds", String(startTimeoutSeconds)],
      ...(clock ? { clock } : {}),
      ...(signal ? { signal } : {}),
    });
    keepStartNote(stateDirectory, podUid, startNoteOf(options));
    if (plan.hostDisks.length > 0 || claims.files.size > 0) {
      const { mountClaimFiles } = await import("./claim-files.ts");
      using sandbox = openVmiSandbox(stateDirectory, record);
      await hostDisks.mount(sandbox);
      await mountClaimFiles(plan.vmi, claims, sandbox);
    }
    trace.note({ stage: "pod-running" });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    trace.note({ stage: "pod-running", state: "failed", message });
    throw error;
  }
}

function startNoteOf({
  sources = {},
  objects = {},
  pidsLimit,
  allowedHostDiskDirectories = [],
}: StartVmiOptions): StartNote {
  const limited = pidsLimit === undefined ? {} : { pidsLimit };
  return { sources, objects, ...limited, allowedHostDiskDirectories };
}

/** A trace that reports at once. */
class ToldTrace extends Trace {
  readonly #time: () => Date;
  readonly #tell: ((entry: TraceEntry) => void) | undefined;
  readonly #told = new Set<string>();

  constructor(
    stateDirectory: string,
    { vmi }: VmiRecord,
    now: () => Date,
    tell: ((entry: TraceEntry) => void) | undefined,
  ) {
    super(agentDirectory(stateDirectory), vmi.metadata?.uid ?? "", now);
    this.#time = now;
    this.#tell = tell;
  }

  override note(entry: TraceEntry): void {
    try {
      super.note(entry);
    } catch (error) {
      // The failure matters more than that it could not be written, for example on a full disk.
      if (entry.state !== "failed") throw error;
    }
    const key = `${entry.stage} ${entry.state ?? "done"}`;
    if (this.#told.has(key)) return;
    this.#told.add(key);
    this.#tell?.({ at: this.#time().toISOString(), ...entry });
  }
}
