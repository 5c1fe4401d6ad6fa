import { formatIp, parseCidr, parseIp } from "../addresses/ip-address.ts";
import type { VirtualMachineInstanceSpec } from "../schema/index.ts";

/**
 * Writes the draft's IP addresses in canonical form. `010.0.2.0` is octal to some readers and decimal to
 * others; after this it is 10.0.2.0 to all of them. Other text is left alone.
 */
export function sanitiseAddresses(draft: VirtualMachineInstanceSpec): void {
  const { dnsConfig, networks, domain } = draft;
  if (dnsConfig?.nameservers) dnsConfig.nameservers = dnsConfig.nameservers.map(address);
  for (const { pod } of networks ?? []) {
    if (pod?.vmNetworkCIDR) pod.vmNetworkCIDR = network(pod.vmNetworkCIDR);
  }
  for (const { dhcpOptions } of domain.devices.interfaces ?? []) {
    if (dhcpOptions?.ntpServers) dhcpOptions.ntpServers = dhcpOptions.ntpServers.map(address);
  }
}

function address(text: string): string {
  const ip = parseIp(text);
  return ip ? formatIp(ip) : text;
}

function network(text: string): string {
  const cidr = parseCidr(text);
  return cidr ? `${formatIp(cidr.ip)}/${cidr.bits}` : text;
}
