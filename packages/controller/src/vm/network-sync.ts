import { syncVmNetworks } from "@virtkit/api/network";
import { at, isSet, objects } from "@virtkit/api/shape";
import type { JsonPatchOperation } from "@virtkit/kube";
import { withTemplate } from "./template-change.ts";
import { failed, type Stop, type VmPass } from "./vm-pass.ts";

/** Attaches and detaches interfaces, and removes from the VM those that the guest no longer has. */
export function syncNetworks(pass: VmPass): Stop | undefined {
  const { vm, vmiPatch } = syncVmNetworks(pass.vm, pass.vmi);
  const refusal = vmiPatch && pass.patchVmi(vmiPatch as readonly JsonPatchOperation[]);
  if (refusal) {
    const message = `the VMI's interfaces could not be changed: ${refusal.message}`;
    return failed("HotPlugNetworkInterfaceError", message);
  }
  const template = at(pass.vm, "spec", "template", "spec");
  const interfaces = objects(at(template, "domain", "devices", "interfaces"));
  const networks = objects(at(template, "networks"));
  if (vm.interfaces.length !== interfaces.length) {
    pass.vm = withTemplate(pass.vm, ["domain", "devices", "interfaces"], [...vm.interfaces]);
  }
  if (vm.networks.length !== networks.length && isSet(at(template, "networks"))) {
    pass.vm = withTemplate(pass.vm, ["networks"], [...vm.networks]);
  }
  return undefined;
}
