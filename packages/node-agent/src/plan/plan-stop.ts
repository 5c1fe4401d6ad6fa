import { graceLeft } from "./grace-period.ts";
import { type NodePass, StepFailure } from "./node-pass.ts";

/** A booting guest may miss a request, so it is asked again. Seconds. */
const askInterval = 5;

/** Ends a guest: asks it to shut down while it has time, otherwise kills it. */
export function shutDown(pass: NodePass): void {
  pass.attempt({ do: "hook", hook: "PreVMStop" });
  assertAnswers(pass);
  const left = graceLeft(pass);
  if (left === undefined) {
    kill(pass);
    return;
  }
  if (pass.domain?.state === "ShuttingDown") return;
  pass.attemptLast({ do: "shutdown" });
  if (left === "all") {
    pass.event("Normal", "ShuttingDown", "the guest was asked to shut down");
  }
  const { terminationGracePeriodSeconds: seconds = askInterval } = pass.vmi?.spec ?? {};
  const afterSeconds = Math.min(left === "all" ? seconds : left, askInterval);
  pass.again({ afterSeconds });
}

/** Ends a guest that cannot continue, at once. */
export function destroy(pass: NodePass): void {
  pass.attempt({ do: "hook", hook: "PreVMStop" });
  assertAnswers(pass);
  kill(pass);
}

function kill(pass: NodePass): void {
  pass.attemptLast({ do: "kill" });
  pass.event("Normal", "Deleted", "the guest is being stopped");
}

function assertAnswers({ view }: NodePass): void {
  const { isConnected, answers = isConnected } = view.launcher;
  if (isConnected && answers) return;
  throw new StepFailure("the launcher does not answer; its guest may still run");
}

/** Makes libvirt forget a guest that has ended, and undoes what was done for it. */
export function deleteGuest(pass: NodePass): void {
  const { isConnected, answers = isConnected } = pass.view.launcher;
  if (isConnected && answers) {
    pass.event("Normal", "Deleted", "the launcher was told to forget its guest");
    pass.attemptLast({ do: "delete" });
  }
  pass.attempt({ do: "clean-up", uid: pass.uid });
}
