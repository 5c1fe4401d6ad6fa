import { isDeepStrictEqual } from "node:util";
import type {
  VirtualMachineInstance,
  VirtualMachineInstanceCondition,
  VirtualMachineInstanceStatus,
  VolumeStatus,
} from "@virtkit/api/schema";
import { conditionsOf, findCondition, isFinal, observeCondition } from "@virtkit/api/status";
import { liveMigratable } from "@virtkit/migration/policy";
import type { SyncFailure } from "../status/node-conditions.ts";
import { vmiStatusFrom } from "../status/vmi-status-from.ts";
import { volumeStatuses } from "../status/volume-statuses.ts";
import { trackingStatus } from "./backup-status.ts";
import { withChecksums } from "./checksum-status.ts";
import { domainStatusOf } from "./domain-status-of.ts";
import { withSizes } from "./iso-sizes.ts";
import { dumpStatus } from "./memory-dump.ts";
import { type NodePass, StepFailure } from "./node-pass.ts";
import type { NodeDomain } from "./node-view.ts";
import { phaseNow } from "./phase-now.ts";

/** Writes the status of a VMI if it has changed, and reports what people should know. */
export function reportStatus(pass: NodePass, failure: StepFailure | undefined): void {
  const { vmi, view } = pass;
  if (!vmi || isFinal(vmi)) return;
  const volumeStatus = reportVolumes(pass, vmi);
  const changedBlockTracking = trackingStatus(pass, vmi);
  const phase = phaseNow(pass, vmi);
  reportCredentials(pass, vmi);
  const before: VirtualMachineInstanceStatus = {
    ...vmi.status,
    ...(volumeStatus ? { volumeStatus: [...volumeStatus] } : {}),
    ...(changedBlockTracking ? { changedBlockTracking } : {}),
  };
  const moved = { ...vmi, status: { ...before, ...(phase ? { phase } : {}) } };
  const migratability = liveMigratable(moved, {
    config: view.config,
    hostCpuModel: view.hostCpuModel ?? "",
  });
  for (const { type, reason, message } of migratability.events) pass.event(type, reason, message);
  const { migrationMethod } = migratability;
  const conditions = [...migratability.conditions];
  const previous = { ...vmi, status: { ...before, migrationMethod, conditions } };
  const status = vmiStatusFrom(domainStatusOf(withAgent(pass)), previous, {
    config: view.config,
    now: pass.time,
    hostArchitecture: view.hostArchitecture,
    launcherIsLost: view.launcher.state === "ended",
    names: view.config.names,
    ...(view.podIps ? { podIps: view.podIps } : {}),
    ...(pass.mounted ? { mountedVolumes: pass.mounted } : {}),
    ...(failure ? { failure: syncFailure(failure) } : {}),
  });
  // Volumes were handled before the rest, with knowledge that the rest lacks.
  const { selinuxContext } = view;
  const reported = {
    ...status,
    ...(volumeStatus ? { volumeStatus: [...volumeStatus] } : {}),
    // Attachment Pods need its level for their files.
    ...(selinuxContext === undefined ? {} : { selinuxContext }),
  };
  writeStatus(pass, vmi, withChecksums(pass, vmi, reported, failure));
}

/** Reports in a condition that a launcher does not answer; everything else about its guest stays. */
export function reportSilence(pass: NodePass, failure: StepFailure): void {
  const { vmi } = pass;
  if (!vmi || isFinal(vmi)) return;
  const conditions = observeCondition(
    conditionsOf<VirtualMachineInstanceCondition>(vmi),
    "Synchronized",
    {
      ...{ status: "False", lastProbeTime: pass.time, lastTransitionTime: pass.time },
      ...{ reason: "LauncherSilent", message: failure.message },
    },
  );
  writeStatus(pass, vmi, { ...vmi.status, conditions: [...conditions] });
}

function syncFailure({ message, isFinal: isLast }: StepFailure): SyncFailure {
  // KubeVirt's text, for those who look for it.
  return { reason: "Synchronizing with the Domain failed.", message, isFinal: isLast };
}

function writeStatus(
  pass: NodePass,
  vmi: VirtualMachineInstance,
  status: VirtualMachineInstanceStatus,
): void {
  const before = vmi.status ?? {};
  if (!isDeepStrictEqual(before, status)) pass.attempt({ do: "write-status", status });
  if (status.phase === before.phase) return;
  switch (status.phase) {
    case "Running":
      pass.event("Normal", "Started", "the guest runs");
      pass.attempt({ do: "hook", hook: "PostVMStart" });
      return;
    case "Succeeded":
      pass.event("Normal", "Stopped", "the guest was shut down");
      return;
    case "Failed":
      pass.event("Warning", "Stopped", "the guest crashed, or could not be started");
      return;
    default:
      return;
  }
}

function reportVolumes(
  pass: NodePass,
  vmi: VirtualMachineInstance,
): readonly VolumeStatus[] | undefined {
  const { view, domain } = pass;
  const known = domain && domainStatusOf(domain);
  const found = volumeStatuses(vmi, known, pass.mounted);
  if (!found || found.length === 0) return found;
  let isUnderWay = false;
  const volumes = found.map((volume) => {
    if (volume.hotplugVolume && (volume.target ?? "") === "") isUnderWay = true;
    const dumped = dumpStatus(vmi, volume, domain, pass.time);
    isUnderWay ||= dumped.isUnderWay;
    return dumped.volume;
  });
  if (isUnderWay) pass.again({ afterSeconds: 1 });
  const byName = new Map(volumes.map((volume) => [volume.name, volume]));
  for (const { name, phase } of vmi.status?.volumeStatus ?? []) {
    const volume = byName.get(name);
    if (!volume || volume.phase === phase) continue;
    pass.event("Normal", volume.reason ?? "", volume.message ?? "");
  }
  return withSizes(vmi, volumes, view.fileSizes ?? {}, view.config.names);
}

function reportCredentials(pass: NodePass, vmi: VirtualMachineInstance): void {
  const found = pass.domain?.accessCredentials;
  if (!found) return;
  const status = found.synced ? "True" : "False";
  const message = found.message ?? "";
  const before = findCondition(conditionsOf(vmi), "AccessCredentialsSynchronized");
  if (before?.status === status && (before.message ?? "") === message) return;
  if (found.synced) {
    pass.event(
      "Normal",
      "AccessCredentialsSyncSuccess",
      `the guest has its credentials ${message}`,
    );
    return;
  }
  pass.event("Warning", "AccessCredentialsSyncFailed", `the guest has no credentials: ${message}`);
}

/** A domain with the abilities of its guest agent, which are queried if the launcher has not reported them. */
function withAgent(pass: NodePass): NodeDomain | undefined {
  const { domain } = pass;
  if (domain?.agent !== "connected" || domain.agentVersion !== undefined || domain.agentCommands) {
    return domain;
  }
  if (!pass.view.launcher.isConnected) {
    throw new StepFailure("the guest's agent cannot be asked: no connection to the launcher");
  }
  const { agent } = pass.attempt({ do: "guest-info" });
  return { ...domain, ...agent };
}
