import type { ClusterConfig } from "@virtkit/api/config";
import type { Interface, VirtualMachineInstance } from "@virtkit/api/schema";
import type { DomainStatus } from "@virtkit/domain-manager";
import { liveMigratable } from "@virtkit/migration/policy";
import { claimUses } from "./volume-refusals.ts";

/** Why a guest cannot move, in KubeVirt's word and in a sentence. */
export interface MoveObstacle {
  readonly reason: string;
  readonly message: string;
}

/** What the answer depends on besides the VMI. */
export interface MovingFacts {
  readonly config: ClusterConfig;
  readonly migrationUID: string;
  /** Volumes whose content is copied to another file. */
  readonly copied?: readonly string[] | undefined;
}

/** A VMI as a cluster would show it before its guest moves. */
export interface MovingVmi {
  readonly vmi: VirtualMachineInstance;
  readonly obstacle?: MoveObstacle;
}

/**
 * The VMI with what a migration depends on: MACs as the guest has them, volumes as this host has
 * them, and whether disks are copied. Files in place of claims, and host disks, are visible to both
 * sandboxes, so they are shared. Pure.
 */
export function movingVmi(
  vmi: VirtualMachineInstance,
  status: Pick<DomainStatus, "interfaces">,
  { config, migrationUID, copied = [] }: MovingFacts,
): MovingVmi {
  const { devices } = vmi.spec.domain;
  const mac = ({ name }: Interface): string | undefined =>
    status.interfaces.find((each) => each.name === name)?.mac;
  const interfaces = devices?.interfaces?.map((each) => {
    const macAddress = each.macAddress ?? mac(each);
    return macAddress === undefined ? each : { ...each, macAddress };
  });
  const known: VirtualMachineInstance = {
    ...vmi,
    spec: {
      ...vmi.spec,
      domain: { ...vmi.spec.domain, devices: { ...devices, ...(interfaces && { interfaces }) } },
      ...(vmi.spec.volumes && { volumes: vmi.spec.volumes.map(shared) }),
    },
    status: {
      ...vmi.status,
      ...(copied.length > 0 && {
        migratedVolumes: copied.map((volumeName) => ({
          volumeName,
          sourcePVCInfo: { volumeMode: "Filesystem" },
          destinationPVCInfo: { volumeMode: "Filesystem" },
        })),
      }),
      volumeStatus: claimUses(vmi).map(({ volume }) => ({
        name: volume,
        target: "",
        persistentVolumeClaimInfo: { accessModes: ["ReadWriteMany"], volumeMode: "Filesystem" },
      })),
      migrationState: { migrationUid: migrationUID },
    },
  };
  // A guest with the host's CPU model moves to the same host.
  const facts = { config, hostCpuModel: "this host's" };
  const { conditions, migrationMethod } = liveMigratable(known, facts);
  const live = conditions.find(({ type }) => type === "LiveMigratable");
  // What was said about claims was only for the decision: the guest's disks are created as at its
  // start.
  const { volumeStatus: _, ...told } = known.status ?? {};
  const before = vmi.status?.volumeStatus;
  const moving = {
    ...known,
    status: {
      ...told,
      ...(before && { volumeStatus: before }),
      conditions: [...conditions],
      migrationMethod,
    },
  };
  if (live?.status !== "False") return { vmi: moving };
  const { reason = "", message = "" } = live;
  return { vmi: moving, obstacle: { reason, message } };
}

type Volume = NonNullable<VirtualMachineInstance["spec"]["volumes"]>[number];

function shared(volume: Volume): Volume {
  const { hostDisk } = volume;
  return hostDisk ? { ...volume, hostDisk: { ...hostDisk, shared: true } } : volume;
}
