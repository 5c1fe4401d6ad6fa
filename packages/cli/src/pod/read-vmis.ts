import type { ClusterConfig } from "@virtkit/api/config";
import { defaultVirtualMachineInstance } from "@virtkit/api/defaults";
import {
  checkObject,
  formatPath,
  type VirtualMachine,
  type VirtualMachineInstance,
} from "@virtkit/api/schema";
import { vmiFromVm } from "@virtkit/api/status";
import type { ManifestDocument } from "../manifests.ts";
import { place } from "../read-config.ts";

/**
 * The VMIs that manifests describe, as admission would store them. A VirtualMachine counts as the
 * VMI that it would start. A VMI with a phase has been admitted and is taken as it is; others get
 * their defaults, and the namespace `default` if they have none. Objects of other kinds are passed
 * over. Throws with file, line and column of the first fault.
 */
export function readVmis(
  documents: readonly ManifestDocument[],
  config: ClusterConfig,
): VirtualMachineInstance[] {
  return documents.flatMap((document) => {
    const { kind } = Object(document.value) as { kind?: unknown };
    if (kind !== "VirtualMachine" && kind !== "VirtualMachineInstance") return [];
    const { group } = config.names;
    const { issues } = checkObject(document.value, { group, maxIssues: 1 });
    const [issue] = issues;
    if (issue) throw fault(document, issue.path, issue.message);
    if (kind === "VirtualMachine") return [admitted(started(document, config), config)];
    return [admitted(document.value as VirtualMachineInstance, config)];
  });
}

function started(document: ManifestDocument, config: ClusterConfig): VirtualMachineInstance {
  const vm = document.value as VirtualMachine;
  if (vm.spec.instancetype || vm.spec.preference) {
    const path = ["spec", vm.spec.instancetype ? "instancetype" : "preference"];
    throw fault(document, path, `${formatPath(path)} must be applied first; give the VMI instead`);
  }
  const made = vmiFromVm(vm, "", { config });
  if ("refused" in made) throw fault(document, ["spec", "template"], made.refused);
  return made.vmi;
}

function admitted(vmi: VirtualMachineInstance, config: ClusterConfig): VirtualMachineInstance {
  const metadata = { ...vmi.metadata, namespace: vmi.metadata?.namespace ?? "default" };
  const placed = { ...vmi, metadata };
  return vmi.status?.phase ? placed : defaultVirtualMachineInstance(placed, config);
}

function fault(
  document: ManifestDocument,
  path: readonly (string | number)[],
  message: string,
): Error {
  return new Error(`${place({ source: document.source, ...document.position(path) })}: ${message}`);
}
