import { NodeAgentError } from "../node-agent-error.ts";
import { hasEnded } from "../sandbox/process-identity.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { type StepContext, takeBack } from "./carry-out.ts";
import type { WiringOptions } from "./guest-network.ts";
import { oneAtATime } from "./one-at-a-time.ts";
import { PodJournal, type PreparedPod } from "./pod-journal.ts";
import type { PreparationStep } from "./preparation-step.ts";

/** The progress of a preparation or its undoing. */
export interface Progress {
  /** `begun`: it is in the journal; `carried-out`: done, and not yet in the journal. */
  readonly mark:
    | "begin"
    | "begun"
    | "carried-out"
    | "finished"
    | "undoing"
    | "undone"
    | "forgotten";
  readonly step: PreparationStep;
}

/** What {@link teardown} works from. */
export interface TeardownOptions {
  /** As in {@link prepare}. */
  readonly stateDirectory: string;
  /** Absent, or with a process that has ended: the sandbox is gone. */
  readonly sandbox?: Sandbox | undefined;
  readonly onProgress?: (progress: Progress) => void;
  readonly wiring?: Pick<WiringOptions, "onOperation">;
  readonly signal?: AbortSignal;
}

/**
 * Undoes what {@link prepare} did for a Pod, in reverse order, and removes its journal. After an interruption the
 * same call continues; if nothing was prepared, it does nothing. For a sandbox that is gone only the journal is
 * removed: mounts, devices and limits went with it. Its process must prove that it is gone; a caller who merely
 * does not know the sandbox gets `AGENT_SANDBOX`, and nothing is forgotten. A network namespace that outlived the
 * process and is passed with the sandbox is unwired.
 */
export async function teardown(podUid: string, options: TeardownOptions): Promise<void> {
  await oneAtATime(`${options.stateDirectory}/${podUid}`, async () => {
    using journal = new PodJournal(options.stateDirectory, podUid);
    const pod = journal.pod();
    if (!pod) return;
    const { sandbox, signal, wiring = {} } = options;
    const ended = hasEnded(pod.process);
    if (!ended) assertSandboxOf(pod, sandbox);
    // Another namespace is not ours; the wired one may have outlived its process.
    if (sandbox && sandbox.network.identity() === pod.network) {
      const context = { sandbox, journal, wiring: { ...wiring, ...(signal ? { signal } : {}) } };
      await undoAll(context, options, ended);
    }
    journal.remove();
  });
}

function assertSandboxOf({ podUid, process, network }: PreparedPod, sandbox?: Sandbox): void {
  if (!sandbox) {
    const message = `the sandbox of Pod ${podUid} still runs (process ${process.pid}); open it by that pid and pass it, or end the process first`;
    throw new NodeAgentError("AGENT_SANDBOX", message, { path: "sandbox" });
  }
  const same = sandbox.process.pid === process.pid && sandbox.network.identity() === network;
  if (same && sandbox.podUid === podUid) return;
  const message = `the sandbox that was given (Pod ${sandbox.podUid}, process ${sandbox.process.pid}) is not that of Pod ${podUid}, which is process ${process.pid}; pass that one`;
  throw new NodeAgentError("AGENT_ARGUMENT", message, { path: "sandbox" });
}

/** Undoes all steps of a journal, the latest first; what was in an ended process's namespaces is only forgotten. */
export async function undoAll(
  context: StepContext,
  { onProgress, signal }: Pick<TeardownOptions, "onProgress" | "signal">,
  ended = false,
): Promise<void> {
  const { journal } = context;
  for (const { step } of journal.records().toReversed()) {
    signal?.throwIfAborted();
    journal.beginUndo(step);
    onProgress?.({ mark: "undoing", step });
    // Its mounts and files went with the process; a network namespace can stay.
    if (!ended || step.kind === "network") await takeBack(step, context);
    onProgress?.({ mark: "undone", step });
    journal.forget(step);
    onProgress?.({ mark: "forgotten", step });
  }
}
