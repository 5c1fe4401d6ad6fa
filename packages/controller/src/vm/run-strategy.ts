import { withCreationMarks } from "@virtkit/api/admission";
import type { Names } from "@virtkit/api/names";
import type { VirtualMachine } from "@virtkit/api/schema";
import { at, number } from "@virtkit/api/shape";
import {
  planRunStrategy,
  type RunStrategyView,
  runStrategyOf,
  type VmPlan as StrategyPlan,
  type Write,
} from "@virtkit/api/status";
import type { KubeObject } from "@virtkit/kube";
import { valuePatch } from "../plan/field-patch.ts";
import { nameOf, uidOf } from "../plan/object-name.ts";
import { revisionResource } from "../plan/vm-resources.ts";
import { Announcements } from "./announcements.ts";
import { createDataVolume } from "./data-volumes.ts";
import { InstancetypeLookup } from "./instancetype-lookup.ts";
import { refuseStart, runGrantRefused } from "./run-memory.ts";
import { startRevisions } from "./start-spec.ts";
import { failedDelete, stopVmi } from "./stop-vmi.ts";
import { failed, type Stop, type VmPass } from "./vm-pass.ts";

/** Starts or stops the VMI as the run strategy and the requests ask. */
export function followRunStrategy(pass: VmPass): Stop | undefined {
  const found = runStrategyOf(pass.vm);
  if ("contradiction" in found) return failed("FailedCreate", found.contradiction);
  const types = new InstancetypeLookup(pass).typesOf(pass.vm);
  if ("problem" in types) return failed("FailedCreate", types.problem);
  const plan = planRunStrategy(found.strategy, { ...viewOf(pass), ...types });
  const announcements = new Announcements(pass.draft, plan.events);
  for (const write of plan.writes) {
    const stop = carryOut(pass, plan, write, announcements);
    if (stop) return stop;
  }
  announcements.rest();
  pass.vm = plan.vm;
  if (plan.requeueAfterSeconds !== undefined) pass.draft.requeueAfter(plan.requeueAfterSeconds);
  return plan.failure && failed(plan.failure.reason, plan.failure.message);
}

function viewOf(pass: VmPass): RunStrategyView {
  const { view, vm, vmi, config, now } = pass;
  const revisions = startRevisions(pass).map((revision) => ({
    name: nameOf(revision).name,
    revision: number(revision.revision),
  }));
  return { ...view, vm, vmi, config, now, revisions };
}

function carryOut(
  pass: VmPass,
  plan: StrategyPlan,
  write: Write,
  announcements: Announcements,
): Stop | undefined {
  switch (write.kind) {
    case "create":
      if (write.resource === "datavolumes") return createDataVolume(pass, write, announcements);
      return write.resource === "controllerrevisions"
        ? createRevision(pass, write.object)
        : createVmi(pass, write.object, announcements);
    case "delete": {
      if (write.resource === "controllerrevisions") return deleteRevision(pass, write.name);
      const refusal = stopVmi(pass);
      announcements.skip("SuccessfulDelete");
      return refusal && failedDelete(refusal);
    }
    case "update":
      return updateVm(pass, write.object);
    case "patch":
      // A start request is in the status, which the pass writes at its end.
      pass.vm = plan.vm;
      return undefined;
  }
}

function createVmi(
  pass: VmPass,
  vmi: Readonly<Record<string, unknown>>,
  announcements: Announcements,
): Stop | undefined {
  const obstacle = pass.demandLiveRead() ? refuseStart(pass) : undefined;
  if (obstacle !== undefined) return failed(runGrantRefused, obstacle);
  const object = vmi as unknown as KubeObject;
  const refusal = pass.draft.write({
    kind: "create",
    resource: pass.resources.vmis,
    object: pass.view.grant ? admittedVmi(object, pass.config.names) : object,
  });
  if (!refusal) {
    pass.isStarting = true;
    pass.expected = { ...pass.expected, vmi: "creation" };
    announcements.done("SuccessfulCreate");
    return undefined;
  }
  const { name } = nameOf(pass.vm);
  const message = `VMI ${name} could not be created: ${refusal.message}`;
  announcements.failed("SuccessfulCreate", { type: "Warning", reason: "FailedCreate", message });
  return failed("FailedCreate", message);
}

/** As the webhook would admit it, so that it does not matter whether there is a webhook. */
function admittedVmi(vmi: KubeObject, names: Names): KubeObject {
  return { ...vmi, metadata: withCreationMarks("VirtualMachineInstance", vmi.metadata, names) };
}

function createRevision(
  pass: VmPass,
  revision: Readonly<Record<string, unknown>>,
): Stop | undefined {
  const object = revision as unknown as KubeObject;
  const refusal = pass.draft.write({ kind: "create", resource: revisionResource, object });
  if (!refusal) return undefined;
  return failed("FailedCreate", `the VM's spec could not be stored: ${refusal.message}`);
}

function deleteRevision(pass: VmPass, name: string): Stop | undefined {
  const revision = startRevisions(pass).find((item) => nameOf(item).name === name);
  if (!revision) return undefined;
  const refusal = pass.draft.write({
    kind: "delete",
    resource: revisionResource,
    object: nameOf(revision),
    uid: uidOf(revision),
  });
  return refusal && failed("FailedCreate", `an old spec could not be deleted: ${refusal.message}`);
}

/** A request to start a halted VM changes its run strategy; the change triggers the next pass. */
function updateVm(pass: VmPass, vm: VirtualMachine): Stop {
  const operations = ["running", "runStrategy"].flatMap((field) =>
    valuePatch(`/spec/${field}`, at(pass.vm, "spec", field), at(vm, "spec", field)),
  );
  const refusal = pass.patchVm(operations, { guarded: true });
  if (!refusal) return { kind: "settle" };
  return failed("FailedCreate", `spec.runStrategy could not be changed: ${refusal.message}`);
}
