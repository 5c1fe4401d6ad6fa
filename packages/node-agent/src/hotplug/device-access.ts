import type { ClusterConfig } from "@virtkit/api/config";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { Cgroup } from "@virtkit/host-primitives/cgroups";
import { openCgroupOf, parseProcCgroup } from "@virtkit/host-primitives/cgroups";
import {
  type DeviceRule,
  deviceFilterName,
  formatDeviceRule,
  initialDeviceRulesForV2,
  launcherDeviceRules,
  listDeviceFilters,
  mergeDeviceRules,
  safeDeviceDirectory,
  setDeviceFilter,
  volumesFromStart,
} from "@virtkit/host-primitives/device-rules";
import { podOfCgroups } from "@virtkit/host-primitives/process";
import type { DeviceNumber } from "@virtkit/host-primitives/safe-path";
import { NodeAgentError } from "../node-agent-error.ts";
import { hypervisorDevice } from "../prepare/wanted-devices.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";

/** What a v2 filter is recreated from. */
export interface AccessFacts {
  readonly vmi: VirtualMachineInstance;
  readonly config: ClusterConfig;
  /** All hotplugged devices. */
  readonly plugged: readonly DeviceNumber[];
}

/**
 * Lets a sandbox use a block device, or no longer. On v1 this adds or removes a rule; on v2 the runtime's filter,
 * which cannot be read back, is replaced by the agent's own, made from what the launcher was started with. Only the
 * cgroup of the sandbox's own Pod is changed: a sandbox outside of a kubelet's cgroups has no device limits.
 */
export function allowDevice(
  sandbox: Sandbox,
  device: DeviceNumber,
  allow: boolean,
  facts: AccessFacts | undefined,
): void {
  const cgroup = deviceCgroup(sandbox);
  if (!cgroup) return;
  using _ = cgroup === sandbox.cgroup ? { [Symbol.dispose]: () => undefined } : cgroup;
  if (cgroup.version === 1) {
    cgroup.write(
      allow ? "devices.allow" : "devices.deny",
      formatDeviceRule(ruleFor(device, allow)),
    );
    return;
  }
  if (facts) replaceFilter(cgroup, sandbox, facts);
}

function ruleFor({ major, minor }: DeviceNumber, allow: boolean): DeviceRule {
  return { type: "b", major, minor, permissions: "rwm", allow };
}

function deviceCgroup(sandbox: Sandbox): Cgroup | undefined {
  if (sandbox.cgroup) return sandbox.cgroup;
  const pod = podOfCgroups(parseProcCgroup(sandbox.process.read("cgroup")));
  if (pod?.podUid !== sandbox.podUid) return undefined;
  return openCgroupOf(sandbox.process, "devices");
}

function replaceFilter(cgroup: Cgroup, { root }: Sandbox, facts: AccessFacts): void {
  const filters = listDeviceFilters(cgroup);
  const others = filters.filter(({ name }) => name !== deviceFilterName);
  const isOurs = others.length < filters.length;
  if (!isOurs && others.length > 1) {
    const message = `${cgroup.description} has ${others.length} device filters; the one of the container runtime cannot be identified, so no block device is plugged in`;
    throw new NodeAgentError("AGENT_SANDBOX", message, { path: "devices" });
  }
  const [runtimes] = others;
  setDeviceFilter(cgroup, deviceRules(facts, safeDeviceDirectory(root)), {
    ...(runtimes && !isOurs ? { takeOver: runtimes.id } : {}),
  });
}

/** All rules of a launcher's v2 filter: what it was started with, and what was hotplugged. */
export function deviceRules(
  { vmi, config, plugged }: AccessFacts,
  directory: Parameters<typeof launcherDeviceRules>[1],
): readonly DeviceRule[] {
  const { devices } = vmi.spec.domain;
  const started = launcherDeviceRules(
    {
      volumes: volumesFromStart(vmi, vmi.status?.nodeName ?? ""),
      randomNumbers: Boolean(devices.rng),
      vsock: devices.autoattachVSOCK === true,
      hypervisor: hypervisorDevice(config).slice("/dev/".length),
      allowEmulation: config.useEmulation,
      version: "v2",
    },
    directory,
  );
  return mergeDeviceRules(
    initialDeviceRulesForV2(started),
    plugged.map((device) => ruleFor(device, true)),
  );
}
