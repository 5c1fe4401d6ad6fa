import { clusterConfig } from "@virtkit/api/config";
import type { VirtualMachine, VirtualMachineInstance } from "@virtkit/api/schema";
import { vmiFromVm } from "@virtkit/api/status";
import type { ClusterObjects } from "@virtkit/launcher-pod";
import type { DataObject } from "@virtkit/local";
import { readManifests } from "@virtkit/node-agent/manifests";
import { applyInstancetypes } from "../apply-instancetypes.ts";
import type { Io } from "../io.ts";
import { place } from "../place.ts";
import { clusterObjects } from "../pod/cluster-objects.ts";
import { describesVmi } from "../pod/read-vmi.ts";
import { UsageError } from "../usage-error.ts";

/** The VMI of a file, and the objects beside it. */
export interface ReadLocalVmi {
  readonly vmi: VirtualMachineInstance;
  /** Secrets and ConfigMaps. */
  readonly data: readonly DataObject[];
  readonly objects: ClusterObjects;
}

/** Reads the manifests; a VirtualMachine counts as the VMI that it would start. */
export async function readLocalVmi(sources: readonly string[], io: Io): Promise<ReadLocalVmi> {
  const { documents, problems } = await readManifests(sources, io);
  const [problem] = problems;
  if (problem) throw new Error(`${place(problem)}: ${problem.message}`);
  const [vmi, second] = documents.filter(describesVmi);
  if (!vmi || second) {
    const found = vmi ? "more than one" : "no";
    throw new UsageError(
      `the files contain ${found} VirtualMachineInstance; pass one with -f FILE`,
    );
  }
  const values = documents.map(({ value }) => value as DataObject);
  const applied = applyInstancetypes(vmi, documents);
  if ("complaints" in applied) throw new Error(applied.complaints.join("").trimEnd());
  return {
    vmi: vmiOf(applied.document.value),
    data: values.filter(({ kind }) => kind === "Secret" || kind === "ConfigMap"),
    objects: clusterObjects(documents),
  };
}

function vmiOf(value: unknown): VirtualMachineInstance {
  const { kind } = value as { kind?: unknown };
  if (kind !== "VirtualMachine") return value as VirtualMachineInstance;
  const { instancetype, preference } = (value as Partial<VirtualMachine>).spec ?? {};
  if (instancetype || preference) {
    const field = `spec.${instancetype ? "instancetype" : "preference"}`;
    const name = (instancetype ?? preference)?.name;
    throw new Error(
      `${field}: "${name}" exists only in a cluster; write its settings into spec.template`,
    );
  }
  const made = vmiFromVm(value as VirtualMachine, "", { config: clusterConfig() });
  if ("refused" in made)
    throw new UsageError(`the VirtualMachine cannot become a VMI: ${made.refused}`);
  return made.vmi;
}
