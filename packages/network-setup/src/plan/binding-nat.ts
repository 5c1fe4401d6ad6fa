import { formatIp } from "@virtkit/api/addresses";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { masqueradeAddresses } from "../masquerade-addresses.ts";
import type { Binding } from "./binding.ts";
import { checkedLinkNames } from "./checked-link-names.ts";
import { type NatTable, natTable } from "./nat-rules.ts";
import { addressesOf, globalAddress, ipOf } from "./pod-nic.ts";

const istioAnnotation = "sidecar.istio.io/inject";

/** The cluster settings that affect the NAT. */
export interface NatOptions {
  /** Whether `portRanges` of an interface is used (a feature gate). */
  readonly portRanges?: boolean;
}

/**
 * The NAT of the first masquerade binding, for each family of its Pod interface; there is no other
 * NAT.
 */
export function bindingNat(
  vmi: VirtualMachineInstance,
  bindings: readonly Binding[],
  { portRanges = false }: NatOptions = {},
): readonly NatTable[] {
  const binding = bindings.find(({ kind }) => kind === "masquerade");
  if (!binding) return [];
  const { iface, network, nic, podInterface } = binding;
  const families = (["ipv4", "ipv6"] as const).filter((family) => globalAddress(nic, family));
  return families.map((family) => {
    const { gateway, guest } = masqueradeAddresses(network.pod ?? {}, family);
    const [podAddress] = addressesOf(nic, family);
    return natTable({
      family: family === "ipv4" ? "ip" : "ip6",
      podInterface,
      bridge: checkedLinkNames(podInterface, network).bridge,
      gateway: formatIp(gateway.address),
      guest: formatIp(guest.address),
      podAddress: podAddress === undefined ? undefined : ipOf(podAddress),
      iface,
      istio: vmi.metadata?.annotations?.[istioAnnotation]?.toLowerCase() === "true",
      tcpMigration: vmi.status?.migrationTransport !== "Unix",
      portRanges,
    });
  });
}
