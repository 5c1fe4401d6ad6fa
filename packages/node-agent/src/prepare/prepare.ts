import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { withHostDisks } from "@virtkit/converter";
import type { NetworkPlan } from "@virtkit/network-setup/plan";
import { NodeAgentError } from "../node-agent-error.ts";
import { identityOf } from "../sandbox/process-identity.ts";
import { assertRunning, type Sandbox } from "../sandbox/sandbox.ts";
import { carryOut, type DoContext } from "./carry-out.ts";
import {
  type PodLinks,
  podLinks,
  type SocketReceiver,
  type WiringOptions,
} from "./guest-network.ts";
import { oneAtATime } from "./one-at-a-time.ts";
import { type PreparationOptions, planPreparation, planSettings } from "./plan-preparation.ts";
import { PodJournal, type PreparedPod } from "./pod-journal.ts";
import type { PreparationFacts } from "./preparation-facts.ts";
import { isNetworkStep, type PreparationStep } from "./preparation-step.ts";
import { sandboxFacts } from "./sandbox-facts.ts";
import { type Progress, undoAll } from "./teardown.ts";

/** What {@link prepare} works from. */
export interface PrepareOptions extends Omit<PreparationOptions, "handsOver"> {
  /** The agent's own directory, on a disk: its contents outlive the agent. */
  readonly stateDirectory: string;
  /** Receives the sockets of the guest's DHCP. Default: they are not opened. */
  readonly handOver?: SocketReceiver;
  readonly wiring?: Omit<WiringOptions, "signal">;
  /** Called once when everything but the network is done; later failures are those of the network. */
  readonly onPrepared?: () => void;
  /** Called for each mark in the journal and each step that is carried out. */
  readonly onProgress?: (progress: Progress) => void;
  readonly signal?: AbortSignal;
}

/** A prepared sandbox. */
export interface Preparation {
  /** The VMI as the launcher should see it: with images on its claims. */
  readonly vmi: VirtualMachineInstance;
  readonly steps: readonly PreparationStep[];
  readonly facts: PreparationFacts;
  /** The wiring in force, the latest plan last. */
  readonly networks: readonly NetworkPlan[];
  /** Links of the wired Pod. */
  readonly podLinks: PodLinks;
}

/**
 * Makes a sandbox ready for its guest: makes a plan and carries it out step by step. Each step is in the
 * Pod's journal before it is carried out. After an interruption at any point, the same call continues where it
 * stopped; a second call changes nothing. What an interrupted {@link teardown} left is undone first.
 *
 * @throws NodeAgentError with the step in `path` and its failure as `cause`; what was done stays until
 *   the next call or {@link teardown}.
 */
export async function prepare(
  vmi: VirtualMachineInstance,
  sandbox: Sandbox,
  options: PrepareOptions,
): Promise<Preparation> {
  const { podUid } = sandbox;
  return await oneAtATime(`${options.stateDirectory}/${podUid}`, async () => {
    using journal = new PodJournal(options.stateDirectory, podUid);
    beginPod(vmi, sandbox, journal);
    if (journal.records().some(({ state }) => state === "undoing")) {
      await undoAll({ sandbox, journal, wiring: wiringOf(options) }, options);
    }
    return await prepareJournalled(vmi, sandbox, journal, options);
  });
}

async function prepareJournalled(
  vmi: VirtualMachineInstance,
  sandbox: Sandbox,
  journal: PodJournal,
  options: PrepareOptions,
): Promise<Preparation> {
  const { handOver } = options;
  const planOptions = { ...options, handsOver: handOver !== undefined };
  const settings = planSettings(planOptions);
  const facts = await sandboxFacts(vmi, sandbox, planOptions);
  const prepared = withHostDisks(vmi, settings.config.names);
  const steps = planPreparation(prepared, facts, planOptions);
  const context: DoContext = {
    vmi,
    sandbox,
    journal,
    wiring: { names: settings.config.names, ...wiringOf(options) },
    settings,
    handOver,
    networks: [],
  };
  await doSteps(
    steps.filter((step) => !isNetworkStep(step)),
    context,
    options,
  );
  options.onPrepared?.();
  await doSteps(steps.filter(isNetworkStep), context, options);
  const { networks } = context;
  return { vmi: prepared, steps, facts, networks, podLinks: await podLinks(sandbox) };
}

async function doSteps(
  steps: readonly PreparationStep[],
  context: DoContext,
  { signal, onProgress }: PrepareOptions,
): Promise<void> {
  const { journal, sandbox } = context;
  for (const step of steps) {
    signal?.throwIfAborted();
    journal.beginStep(step);
    onProgress?.({ mark: "begun", step });
    await inStep(step, sandbox, () => carryOut(step, context));
    onProgress?.({ mark: "carried-out", step });
    journal.finishStep(step);
    onProgress?.({ mark: "finished", step });
  }
}

function wiringOf({ wiring = {}, signal }: PrepareOptions): WiringOptions {
  return { ...wiring, ...(signal ? { signal } : {}) };
}

/** Records whose preparation this is, or checks that it is the one that was begun. */
function beginPod(vmi: VirtualMachineInstance, sandbox: Sandbox, journal: PodJournal): void {
  const { podUid, process, network } = sandbox;
  assertRunning(sandbox);
  const vmiUid = vmi.metadata?.uid;
  if (!vmiUid) {
    const message = "metadata.uid: missing; a sandbox is prepared for exactly one VMI";
    throw new NodeAgentError("AGENT_VMI_INVALID", message, { path: "metadata.uid" });
  }
  const pod: PreparedPod = {
    podUid,
    vmiUid,
    process: identityOf(process),
    network: network.identity(),
  };
  const begun = journal.pod();
  if (!begun) journal.begin(pod);
  if (!begun || JSON.stringify(begun) === JSON.stringify(pod)) return;
  const other =
    begun.vmiUid === vmiUid ? `process ${begun.process.pid}` : `the VMI ${begun.vmiUid}`;
  const message = `Pod ${podUid} was prepared for ${other}; tear it down before you use it for another`;
  throw new NodeAgentError("AGENT_JOURNAL", message, { path: journal.directory });
}

async function inStep(
  step: PreparationStep,
  sandbox: Sandbox,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (cause) {
    // A sandbox that has ended meanwhile explains any failure better than anything else.
    assertRunning(sandbox);
    const why = cause instanceof Error ? cause.message : String(cause);
    const message = `step ${step.id} of Pod ${sandbox.podUid}: ${why}`;
    throw new NodeAgentError("AGENT_STEP", message, { path: step.id, cause });
  }
}
