import { isFinal } from "@virtkit/api/status";
import { retryAfterIoError } from "./io-error-retry.ts";
import { type NodePass, StepFailure } from "./node-pass.ts";
import { phaseNow } from "./phase-now.ts";
import { deleteGuest, destroy, shutDown } from "./plan-stop.ts";
import { updateGuest } from "./plan-update.ts";
import { reportSilence, reportStatus } from "./report-status.ts";

/** What a pass does to the guest. */
type Action = "shut down" | "destroy" | "delete" | "update" | "nothing";

/** Brings a guest and the status of its VMI to what they should be. */
export function syncGuest(pass: NodePass): void {
  const { vmi, view, domain } = pass;
  if (view.launcher.state === "silent") {
    const failure = silence(pass);
    reportSilence(pass, failure);
    throw failure;
  }
  // That proves nothing, and nothing follows from it.
  if (domain?.state === "Unknown") return;
  const action = chooseAction(pass);
  if (vmi && isFinal(vmi) && !isAlive(pass)) pass.attempt({ do: "hook", hook: "PostVMStop" });
  const failure = failureOf(() => carryOut(action, pass));
  const isOver = vmi !== undefined && isFinal(vmi);
  if (failure && !isOver) pass.event("Warning", "SyncFailed", failure.message);
  if (vmi) reportStatus(pass, failure);
  if (failure) throw failure;
}

/** A launcher that does not answer does not prove that its guest has ended: it is reported, and nothing is done. */
function silence({ view }: NodePass): StepFailure {
  return new StepFailure(
    view.launcher.problem ??
      "the launcher does not answer; its guest may still run and is left alone",
  );
}

function isAlive({ domain }: NodePass): boolean {
  return domain !== undefined && !["Shutoff", "Crashed", "Unset"].includes(domain.state);
}

function chooseAction(pass: NodePass): Action {
  const { vmi, domain } = pass;
  const alive = isAlive(pass);
  const isOver = vmi !== undefined && isFinal(vmi);
  const isMarked = domain?.grace?.isMarked === true && vmi?.status?.phase === "Running";
  const mustEnd = isMarked || !vmi || Boolean(vmi.metadata?.deletionTimestamp);
  // In KubeVirt's order: the phase is determined, and I/O errors are counted, whatever is then done.
  const isDue = vmi !== undefined && !isOver && isUpdateDue(pass);
  if (mustEnd && alive) return "shut down";
  if (domain?.state === "Paused" && domain.reason === "PostcopyFailed") return "destroy";
  if (mustEnd || isOver || (domain && !alive && !isToBeStarted(pass))) return "delete";
  return isDue ? "update" : "nothing";
}

/** An interrupted start is repeated: its domain says no more about a guest than none would. */
function isToBeStarted({ vmi, domain }: NodePass): boolean {
  return domain?.isUnstarted === true && vmi?.status?.phase === "Scheduled";
}

/**
 * Whether the guest may be changed: not while its phase is still to be reported, nor too soon after an I/O error.
 */
function isUpdateDue(pass: NodePass): boolean {
  const { vmi, domain } = pass;
  if (!vmi || phaseNow(pass, vmi) !== vmi.status?.phase) return false;
  if (domain?.state !== "Paused" || domain.reason !== "IOError") return true;
  const { state, delay } = retryAfterIoError(pass.memory.ioError, pass.view.now);
  pass.memory = { ...pass.memory, ioError: state };
  if (delay === undefined) return true;
  pass.again({ afterSeconds: delay / 1000 });
  return false;
}

function carryOut(action: Action, pass: NodePass): void {
  switch (action) {
    case "shut down":
      shutDown(pass);
      return;
    case "destroy":
      destroy(pass);
      throw new StepFailure("the guest cannot continue: its post-copy migration has failed", true);
    case "delete":
      deleteGuest(pass);
      return;
    case "update":
      updateGuest(pass);
      return;
    case "nothing":
      return;
  }
}

function failureOf(work: () => void): StepFailure | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (error instanceof StepFailure) return error;
    throw error;
  }
}
