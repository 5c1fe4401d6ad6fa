import { isIPv4 } from "node:net";
import type { GuestInterface } from "./domain-status.ts";

/** Interfaces of the guest's own making that are told, as in KubeVirt: a guest may have thousands. */
const guestOnlyLimit = 10;

/**
 * The interfaces of the domain, each with what the guest calls it and which addresses it has there, then
 * the first ten that only the guest knows. They are matched by hardware address.
 *
 * A bridge or a VLAN of the guest has the hardware address of the card below it. As in KubeVirt they are
 * one: the name is that of the last, and the addresses of each family those of the first that has some,
 * unless a later one has none.
 */
export function mergeInterfaces(
  domain: readonly GuestInterface[],
  told: readonly GuestInterface[],
): readonly GuestInterface[] {
  const known = [...domain];
  const guestOnly: GuestInterface[] = [];
  for (const one of told) {
    const index = known.findIndex(({ mac }) => sameMac(mac, one.mac));
    const found = known[index];
    if (found) known[index] = withTold(found, one);
    else if (guestOnly.length < guestOnlyLimit) guestOnly.push(one);
  }
  return [...known, ...guestOnly];
}

function withTold(known: GuestInterface, { interfaceName, ips }: GuestInterface): GuestInterface {
  const family = (isOfFamily: (address: string) => boolean): string[] => {
    const [before, now] = [known.ips.filter(isOfFamily), ips.filter(isOfFamily)];
    return before.length === 0 || now.length === 0 ? now : before;
  };
  const merged = [...family(isIPv4), ...family((address) => !isIPv4(address))];
  return { ...known, ...(interfaceName === undefined ? {} : { interfaceName }), ips: merged };
}

function sameMac(one: string, other: string): boolean {
  return one !== "" && one.toLowerCase() === other.toLowerCase();
}
