import type { VirtualMachine } from "@virtkit/api/schema";
import { at, entry, isSet, text } from "@virtkit/api/shape";
import { planDataVolumes, runStrategyOf, type Write } from "@virtkit/api/status";
import { inNamespaceOf, volumesOf } from "@virtkit/api/status/vm";
import type { KubeObject } from "@virtkit/kube";
import { dataVolumeResource } from "../plan/vm-resources.ts";
import { Announcements } from "./announcements.ts";
import { failed, type Stop, type VmPass } from "./vm-pass.ts";
import type { CloneRequest, VmConfig, VmPassView } from "./vm-view.ts";

/**
 * Creates the DataVolumes of the VM's templates at once, whether or not it starts; an annotation
 * delays that until it does. A starting VM waits for its data.
 */
export function createDataVolumes(pass: VmPass): Stop | undefined {
  const { vm, config } = pass;
  const strategy = runStrategyOf(vm);
  if ("contradiction" in strategy) {
    const message = strategy.contradiction;
    return { kind: "end", error: { kind: "other", reason: "FailedCreate", message } };
  }
  const annotation = config.names.annotations.immediateDataVolumeCreation;
  if (entry(at(vm, "metadata", "annotations"), annotation) === "false") return undefined;
  const { writes, events, ready, error } = planDataVolumes(vm, { ...pass.view, config });
  const announcements = new Announcements(pass.draft, events);
  for (const write of writes) {
    const stop = createDataVolume(pass, write, announcements);
    if (stop) return stop;
  }
  announcements.rest();
  if (error !== undefined) return failed("FailedCreate", error);
  return ready || strategy.strategy === "Halted" ? undefined : { kind: "settle" };
}

/** Carries out one creation of {@link planDataVolumes}. */
export function createDataVolume(
  pass: VmPass,
  write: Write,
  announcements: Announcements,
): Stop | undefined {
  if (write.kind !== "create") return undefined;
  const object = write.object as unknown as KubeObject;
  const name = text(object.metadata.name);
  if (pass.view.isWithoutCdi) {
    const message = `DataVolume ${name} was not created: CDI, which fills DataVolumes, is not installed in this cluster; install it, or remove spec.dataVolumeTemplates`;
    return refuseDataVolume(announcements, message);
  }
  const clone = cloneOf(pass.vm, name, write);
  if (clone && pass.view.mayClone?.(clone) !== true) {
    const account = `${clone.serviceAccount.namespace}/${clone.serviceAccount.name}`;
    const message = `DataVolume ${name} was not created: service account ${account} may not clone ${clone.source.namespace}/${clone.source.name}; give it permission to create datavolumes/source there`;
    announcements.failed("SuccessfulDataVolumeCreate", {
      type: "Warning",
      reason: "UnauthorizedDataVolumeCreate",
      message,
    });
    return failed("FailedCreate", message);
  }
  const { namespace } = pass.vm.metadata ?? {};
  const metadata = namespace === undefined ? object.metadata : { ...object.metadata, namespace };
  const refusal = pass.draft.write({
    kind: "create",
    resource: dataVolumeResource,
    object: { ...object, metadata },
  });
  if (!refusal) {
    pass.expected = { ...pass.expected, dataVolume: "creation" };
    announcements.done("SuccessfulDataVolumeCreate");
    return undefined;
  }
  // A CDI that cannot adopt claims refuses, but the claim exists all the same.
  const hasClaim = inNamespaceOf(pass.vm, name, pass.view.claims) !== undefined;
  if (refusal.reason === "AlreadyExists" && hasClaim) {
    announcements.skip("SuccessfulDataVolumeCreate");
    return undefined;
  }
  return refuseDataVolume(
    announcements,
    `DataVolume ${name} could not be created: ${refusal.message}`,
  );
}

function refuseDataVolume(announcements: Announcements, message: string): Stop {
  const reason = "FailedDataVolumeCreate";
  announcements.failed("SuccessfulDataVolumeCreate", { type: "Warning", reason, message });
  return failed("FailedCreate", message);
}

/** The permissions to check before a plan for this VM may create its DataVolumes. */
export function cloneRequests(view: VmPassView, config: VmConfig): readonly CloneRequest[] {
  const { writes } = planDataVolumes(view.vm, { ...view, config });
  return writes.flatMap((write) => {
    const name = write.kind === "create" ? text(at(write.object, "metadata", "name")) : "";
    return cloneOf(view.vm, name, write) ?? [];
  });
}

function cloneOf(vm: VirtualMachine, dataVolume: string, write: Write): CloneRequest | undefined {
  const source = write.kind === "create" ? write.clones : undefined;
  if (!source) return undefined;
  const namespace = text(at(vm, "metadata", "namespace"));
  return { dataVolume, source, serviceAccount: { namespace, name: serviceAccountOf(vm) } };
}

/** The account as which a VM's Pod would read the source. */
function serviceAccountOf(vm: VirtualMachine): string {
  const named = text(at(vm, "spec", "template", "spec", "serviceAccountName"));
  const mounted = volumesOf(vm).find((volume) => isSet(volume.serviceAccount));
  return named || text(at(mounted, "serviceAccount", "serviceAccountName")) || "default";
}
