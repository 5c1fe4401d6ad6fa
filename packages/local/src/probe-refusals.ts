import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { planProbes } from "@virtkit/launcher/probes";
import type { Refusal } from "@virtkit/node-agent/errors";

/** Probes that the launcher cannot run without a kubelet. */
export function probeRefusals(vmi: VirtualMachineInstance): Refusal[] {
  return planProbes(withDefaultNetwork(vmi)).faults.map(({ path, message }) => {
    const [found = "", ...rest] = message.slice(path.length).trim().split("; ");
    return { field: path, found, instead: rest.join("; ") || "change it, or remove the probe" };
  });
}

/** A guest that names no interface gets masquerade, which network probes need. */
function withDefaultNetwork(vmi: VirtualMachineInstance): VirtualMachineInstance {
  const { domain } = vmi.spec;
  const { interfaces, autoattachPodInterface } = domain.devices ?? {};
  if ((interfaces ?? []).length > 0 || autoattachPodInterface === false) return vmi;
  const devices = { ...domain.devices, interfaces: [{ name: "default", masquerade: {} }] };
  const networks = [{ name: "default", pod: {} }];
  return { ...vmi, spec: { ...vmi.spec, networks, domain: { ...domain, devices } } };
}
