import type { Interface, VirtualMachineInstanceSpec } from "../schema/index.ts";
import { type Cause, each, fine, invalid, join, quote } from "./cause.ts";
import { isDefaultNetwork } from "./network-lookup.ts";

/** An interface is up, down, or absent (to be unplugged), if the binding supports that. */
export function interfaceStates(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  const interfaces = spec.domain.devices.interfaces;
  if (!interfaces?.some((iface) => iface.state)) return fine;
  const primary = spec.networks?.find(isDefaultNetwork)?.name;
  return each(interfaces, (iface, i) => {
    const field = `${at}.domain.devices.interfaces[${i}].state`;
    return iface.state ? join(known(iface, field), absent(iface, field, primary)) : fine;
  });
}

function known({ state, sriov }: Interface, field: string): readonly Cause[] {
  switch (state) {
    case "absent":
      return fine;
    case "up":
    case "down":
      return sriov
        ? invalid(field, `is ${state}, but the link of an SR-IOV device cannot be set; remove it`)
        : fine;
    default:
      return invalid(field, `is ${quote(state)}; use up, down, absent, or leave it out`);
  }
}

function absent(iface: Interface, field: string, primary: string | undefined): readonly Cause[] {
  if (iface.state !== "absent") return fine;
  return join(
    iface.bridge ? fine : invalid(field, "is absent; only bridge interfaces can be unplugged"),
    iface.name === primary
      ? invalid(field, "is absent; the interface of the default network cannot be unplugged")
      : fine,
  );
}
