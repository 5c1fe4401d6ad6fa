import { type Names, names } from "@virtkit/api/names";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { NodeTopology } from "../context.ts";
import { invalidVmi } from "../converter-error.ts";
import { blockDevice, LauncherPaths } from "../launcher-paths.ts";
import type { Domain } from "../model/domain.ts";
import type { CopiedVolume, MigrationTarget } from "./migration-target.ts";
import { targetCpus } from "./target-cpus.ts";

/** What the source knows about a migration in addition to the VMI. */
export interface SourceFacts {
  /**
   * Whether the destination edits the XML itself before it starts the guest. Then the source leaves
   * paths and CPUs to it.
   */
  readonly destinationHook: boolean;
  /** The running domain; needed for dedicated CPUs if there is no hook. */
  readonly running?: Domain;
  /** Size that the guest sees of the copied volumes, in bytes, by volume. */
  readonly virtualSizes?: Readonly<Record<string, number | bigint>>;
  /** The platform's names for annotations and directories. Default: KubeVirt's. */
  readonly names?: Names;
}

/**
 * What the source changes in the XML that it sends, from what the VMI's status says about the destination.
 *
 * @throws ConverterError if the VMI has dedicated CPUs, and those of the destination are not enough or the topology
 * in the status is not JSON.
 */
export function sourceTarget(vmi: VirtualMachineInstance, facts: SourceFacts): MigrationTarget {
  const state = vmi.status?.migrationState;
  const { domainNamespace, virtualMachineInstanceUID } = state?.targetState ?? {};
  const from = vmi.metadata?.namespace ?? "";
  const cpus = facts.destinationHook ? undefined : cpusOf(vmi, facts);
  return {
    volumes: copiedVolumes(vmi, facts),
    ...(!facts.destinationHook &&
      domainNamespace !== undefined && {
        namespace: { from, to: domainNamespace, match: "text" },
      }),
    ...(virtualMachineInstanceUID !== undefined && {
      uid: { from: vmi.metadata?.uid ?? "", to: virtualMachineInstanceUID },
    }),
    ...(cpus && { cpus }),
  };
}

function cpusOf(
  vmi: VirtualMachineInstance,
  { running, names }: SourceFacts,
): MigrationTarget["cpus"] {
  if (!running || !vmi.spec.domain.cpu?.dedicatedCpuPlacement) return undefined;
  const { targetCPUSet = [], targetNodeTopology = "" } = vmi.status?.migrationState ?? {};
  let topology: NodeTopology;
  try {
    topology = JSON.parse(targetNodeTopology) as NodeTopology;
  } catch {
    const path = "status.migrationState.targetNodeTopology";
    throw invalidVmi(path, "is not JSON; the node agent at the destination must set it");
  }
  return targetCpus(running, vmi, { cpuSet: targetCPUSet, topology, names: names?.options });
}

function copiedVolumes(
  vmi: VirtualMachineInstance,
  { virtualSizes: sizes = {}, names: { directories } = names() }: SourceFacts,
): Record<string, CopiedVolume> {
  const paths = new LauncherPaths(directories);
  const found: [string, CopiedVolume][] = [];
  for (const migrated of vmi.status?.migratedVolumes ?? []) {
    const { volumeName: name, sourcePVCInfo: here, destinationPVCInfo: there } = migrated;
    const volume = (vmi.spec.volumes ?? []).find((candidate) => candidate.name === name);
    const claim = volume?.persistentVolumeClaim ?? volume?.dataVolume;
    if (!volume || (!claim && !volume.hostDisk)) continue;
    const virtualSize = Object.hasOwn(sizes, name) ? sizes[name] : undefined;
    const replacement = placeOf(
      paths,
      name,
      claim?.hotpluggable === true,
      here?.volumeMode,
      there?.volumeMode,
    );
    found.push([name, { virtualSize, ...(replacement && { replacement }) }]);
  }
  return Object.fromEntries(found);
}

/** The path of a volume that changes from a file system to a block device, or vice versa. */
function placeOf(
  paths: LauncherPaths,
  name: string,
  hotplugged: boolean,
  here: string | undefined,
  there: string | undefined,
): CopiedVolume["replacement"] {
  if (here === "Filesystem" && there === "Block") {
    return { dev: hotplugged ? paths.hotplugBlockDevice(name) : blockDevice(name) };
  }
  if (here === "Block" && there === "Filesystem") {
    return { file: hotplugged ? paths.hotplugImage(name) : paths.filesystemImage(name) };
  }
  return undefined;
}
