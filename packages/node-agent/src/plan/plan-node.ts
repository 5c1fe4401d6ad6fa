import { entry } from "@virtkit/api/shape";
import { isMigrating, isMigrationUnderWay, isSender } from "./migration-view.ts";
import { NodePass, StepFailure } from "./node-pass.ts";
import type { NodePlan } from "./node-plan.ts";
import type { StepOutcome } from "./node-step.ts";
import type { NodeView } from "./node-view.ts";
import { deleteGuest } from "./plan-stop.ts";
import { syncGuest } from "./plan-sync.ts";

/**
 * Plans one pass of the node agent over one VMI: what its launcher is asked for, what is done on the node, the
 * status that is written, the events, and when to look again.
 *
 * Pure. `outcomes` are those of the first steps, in order; the others are planned as if they succeed. So
 * without outcomes it is the plan as a person wants to read it. To carry it out, do the first step that has
 * no outcome, add its outcome, and plan again until all steps have one.
 *
 * @example
 * ```ts
 * const { steps } = planNode({ vmi, domain, launcher, node: "node01", config, now: Date.now() });
 * console.log(steps.map((step) => step.do));
 * ```
 */
export function planNode(view: NodeView, outcomes: readonly StepOutcome[] = []): NodePlan {
  const pass = new NodePass(view, outcomes);
  try {
    look(pass);
  } catch (error) {
    if (!(error instanceof StepFailure)) throw error;
    pass.again("rateLimited");
  }
  return pass.plan();
}

function look(pass: NodePass): void {
  const { vmi, domain, view } = pass;
  const { names } = view.config;
  if (vmi && view.isBehind) return;
  if (vmi && domain && domain.vmiUid !== pass.uid) {
    settleOlder(pass, domain.vmiUid);
    return;
  }
  if (domain?.state === "Shutoff" && domain.reason === "Migrated") {
    deleteGuest(pass);
    return;
  }
  if (vmi && isMigrating(vmi, view.now) && vmi.status?.phase === "Failed") {
    pass.attempt({ do: "clean-up", uid: pass.uid });
  }
  // The migration's own passes handle a guest that moves.
  if (!vmi?.metadata?.deletionTimestamp && isMigrationUnderWay(vmi, domain, names)) return;
  if (vmi && !(isOwn(pass) && !isSender(vmi))) return;
  syncGuest(pass);
}

/** A domain of an older VMI with the same name: it is removed once its launcher is proven to have ended. */
function settleOlder(pass: NodePass, uid: string): void {
  switch (pass.view.launcher.state) {
    case "unknown":
      throw new StepFailure("it is not known whether the launcher of the older VMI has ended");
    case "starting":
      pass.again({ afterSeconds: 1 });
      return;
    case "ended":
      pass.attempt({ do: "clean-up", uid });
      pass.again({ afterSeconds: 5 });
      return;
    case "ready":
    case "silent":
      return;
  }
}

/** Whether the VMI belongs to this node, by its label or its status. */
function isOwn({ vmi, view }: NodePass): boolean {
  const label = entry(vmi?.metadata?.labels, view.config.names.labels.nodeName);
  return view.node !== "" && (label === view.node || vmi?.status?.nodeName === view.node);
}
