import type { VirtualMachine, VirtualMachineInstance } from "../../schema/index.ts";
import { quote } from "../../schema/issue.ts";
import { at, isSet, text } from "../../shape.ts";
import { conditionsOf, findCondition, hasCondition } from "../conditions.ts";
import { isRunning, phaseOf } from "../phases.ts";
import { badRequest, conflict, forbidden, type Refusal } from "./outcome.ts";
import { nameOf } from "./state-change.ts";

/** The input of a precondition. */
export interface VmiSubresourceView {
  readonly vmi: VirtualMachineInstance;
  /** The VM that owns it, if there is one. */
  readonly vm?: VirtualMachine | undefined;
}

type Precondition = (view: VmiSubresourceView) => Refusal | undefined;

/** Every subresource of a VMI that the node or the launcher answers, with its precondition. */
export const vmiPreconditions: Readonly<Record<string, readonly Precondition[]>> = {
  console: [serialAttached, notFailed, runningOrBadRequest],
  vnc: [graphicsAttached, runningOrBadRequest],
  "vnc/screenshot": [graphicsAttached, runningOrBadRequest],
  usbredir: [usbSupported, usbConfigured, runningOrBadRequest],
  vsock: [vsockAttached],
  portforward: [notMarkedPaused],
  pause: [running, livenessAllowsPause, notYetPaused],
  unpause: [noSnapshotInProgress, running, paused],
  freeze: [running],
  unfreeze: [running],
  reset: [],
  softreboot: [running, notPaused, canHearReboot],
  guestosinfo: [running, agentConnected],
  userlist: [running, agentConnected],
  filesystemlist: [running, agentConnected],
  backup: [running],
  "redefine-checkpoint": [changesTracked],
  "sev/fetchcertchain": [onANode, attestationRequested],
  "sev/querylaunchmeasurement": [running, attestationRequested, paused],
  "sev/setupsession": [scheduled, attestationRequested, noSession],
  "sev/injectlaunchsecret": [running, attestationRequested, paused],
};

/** Why a subresource of a VMI refuses; `undefined` if it does not. Unknown names are a bad request. */
export function vmiSubresourceObstacle(
  subresource: string,
  view: VmiSubresourceView,
): Refusal | undefined {
  if (!Object.hasOwn(vmiPreconditions, subresource)) {
    return badRequest(`a VMI has no subresource "${subresource}"`);
  }
  for (const precondition of vmiPreconditions[subresource] ?? []) {
    const refusal = precondition(view);
    if (refusal) return refusal;
  }
  return undefined;
}

function refuse({ vmi }: VmiSubresourceView, why: string): Refusal {
  return conflict("virtualmachineinstance", nameOf(vmi), why);
}

const guestIsPaused = "the guest is paused; unpause it first";

function notRunning(vmi: VirtualMachineInstance): string {
  return `the phase of VMI "${nameOf(vmi)}" is ${quote(phaseOf(vmi))}; it must be Running`;
}

function running(view: VmiSubresourceView): Refusal | undefined {
  return isRunning(view.vmi) ? undefined : refuse(view, notRunning(view.vmi));
}

function runningOrBadRequest({ vmi }: VmiSubresourceView): Refusal | undefined {
  return isRunning(vmi) ? undefined : badRequest(notRunning(vmi));
}

function notFailed(view: VmiSubresourceView): Refusal | undefined {
  return phaseOf(view.vmi) === "Failed" ? refuse(view, "the guest has failed") : undefined;
}

function serialAttached({ vmi }: VmiSubresourceView): Refusal | undefined {
  return at(vmi, "spec", "domain", "devices", "autoattachSerialConsole") === false
    ? badRequest("the VMI has no serial console: autoattachSerialConsole is false")
    : undefined;
}

function graphicsAttached({ vmi }: VmiSubresourceView): Refusal | undefined {
  return at(vmi, "spec", "domain", "devices", "autoattachGraphicsDevice") === false
    ? badRequest("the VMI has no display: autoattachGraphicsDevice is false")
    : undefined;
}

function vsockAttached({ vmi }: VmiSubresourceView): Refusal | undefined {
  return at(vmi, "spec", "domain", "devices", "autoattachVSOCK") === true
    ? undefined
    : badRequest("the VMI has no VSOCK: set autoattachVSOCK");
}

function usbSupported(view: VmiSubresourceView): Refusal | undefined {
  return at(view.vmi, "spec", "architecture") === "s390x"
    ? refuse(view, "s390x has no USB")
    : undefined;
}

function usbConfigured(view: VmiSubresourceView): Refusal | undefined {
  return isSet(at(view.vmi, "spec", "domain", "devices", "clientPassthrough"))
    ? undefined
    : refuse(view, "the VMI does not redirect USB: set clientPassthrough");
}

function isMarkedPaused(vmi: VirtualMachineInstance): boolean {
  return findCondition(conditionsOf(vmi), "Paused") !== undefined;
}

function notMarkedPaused(view: VmiSubresourceView): Refusal | undefined {
  return isMarkedPaused(view.vmi) ? refuse(view, guestIsPaused) : undefined;
}

function notYetPaused(view: VmiSubresourceView): Refusal | undefined {
  return isMarkedPaused(view.vmi) ? refuse(view, "the guest is already paused") : undefined;
}

function notPaused(view: VmiSubresourceView): Refusal | undefined {
  return hasCondition(conditionsOf(view.vmi), "Paused", "True")
    ? refuse(view, guestIsPaused)
    : undefined;
}

function paused(view: VmiSubresourceView): Refusal | undefined {
  return isMarkedPaused(view.vmi)
    ? undefined
    : refuse(view, "the guest is not paused; pause it first");
}

/** A probe would fail while the guest is paused, and the kubelet would end the Pod. */
function livenessAllowsPause({ vmi }: VmiSubresourceView): Refusal | undefined {
  const probe = at(vmi, "spec", "livenessProbe");
  return isSet(probe) && !isSet(at(probe, "guestAgentPing"))
    ? forbidden(
        "virtualmachineinstance",
        nameOf(vmi),
        "its liveness probe would fail while it is paused; only guestAgentPing probes are suspended then",
      )
    : undefined;
}

function noSnapshotInProgress({ vm }: VmiSubresourceView): Refusal | undefined {
  return isSet(at(vm, "status", "snapshotInProgress"))
    ? conflict(
        "virtualmachine",
        nameOf(vm),
        `its snapshot ${quote(text(at(vm, "status", "snapshotInProgress")))} is being taken; wait for it`,
      )
    : undefined;
}

function agentConnected(view: VmiSubresourceView): Refusal | undefined {
  return findCondition(conditionsOf(view.vmi), "AgentConnected")
    ? undefined
    : refuse(view, "no guest agent answers; is it installed and started?");
}

/** A guest is asked to reboot through its agent or by ACPI. */
function canHearReboot(view: VmiSubresourceView): Refusal | undefined {
  const hasAcpi = at(view.vmi, "spec", "domain", "features", "acpi", "enabled") !== false;
  if (hasAcpi || findCondition(conditionsOf(view.vmi), "AgentConnected")) return undefined;
  return refuse(view, "the guest has neither an agent nor ACPI to receive the request");
}

function changesTracked(view: VmiSubresourceView): Refusal | undefined {
  return at(view.vmi, "status", "changedBlockTracking", "state") === "Enabled"
    ? undefined
    : refuse(view, "status.changedBlockTracking.state is not Enabled; enable it for the VM");
}

function onANode(view: VmiSubresourceView): Refusal | undefined {
  return ["Scheduled", "Running"].includes(phaseOf(view.vmi))
    ? undefined
    : refuse(view, `its phase is ${quote(phaseOf(view.vmi))}; it must be Scheduled or Running`);
}

function scheduled(view: VmiSubresourceView): Refusal | undefined {
  return phaseOf(view.vmi) === "Scheduled"
    ? undefined
    : refuse(view, `its phase is ${quote(phaseOf(view.vmi))}; it must be Scheduled`);
}

function attestationRequested(view: VmiSubresourceView): Refusal | undefined {
  return isSet(at(view.vmi, "spec", "domain", "launchSecurity", "sev", "attestation"))
    ? undefined
    : refuse(view, "the VMI does not ask for attestation: set launchSecurity.sev.attestation");
}

function noSession(view: VmiSubresourceView): Refusal | undefined {
  const sev = at(view.vmi, "spec", "domain", "launchSecurity", "sev");
  return text(at(sev, "session")) || text(at(sev, "dhCert"))
    ? refuse(view, "the session is already set")
    : undefined;
}
