import { parseMac } from "../mac-address.ts";

/** A DHCPDISCOVER as a client sends it. */
export function discoverPacket(mac: string): Buffer {
  return dhcp4Packet(mac, 1);
}

/** A DHCPv4 packet of a client with one option: its type. */
export function dhcp4Packet(mac: string, type: number): Buffer {
  const packet = Buffer.alloc(300);
  packet.set([1, 1, 6, 0, 0xde, 0xad, 0xbe, 0xef]);
  packet.set([0x80], 10);
  packet.set(parseMac(mac, "mac"), 28);
  packet.set([99, 130, 83, 99, 53, 1, type, 255], 236);
  return packet;
}

/** A DHCPv6 message of a client: its type, and an identity association. */
export function dhcp6Packet(
  type: number,
  { rapid = false }: { readonly rapid?: boolean } = {},
): Buffer {
  const clientId = [0, 1, 0, 10, 0, 3, 0, 1, 2, 0, 0, 0, 0, 1];
  const association = [0, 3, 0, 12, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0];
  return Buffer.from([type, 1, 2, 3, ...clientId, ...association, ...(rapid ? [0, 14, 0, 0] : [])]);
}
