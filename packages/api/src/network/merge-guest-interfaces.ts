import { isIpv4, parseIp } from "../addresses/ip-address.ts";

/** Interfaces that only the guest knows: more are left out, as by KubeVirt. A guest may have thousands. */
const guestOnlyLimit = 10;

/** How {@link mergeGuestInterfaces} makes one of two. */
export interface InterfaceMerge<Known, Told> {
  join(known: Known, told: Told): Known;
  /** One that only the guest knows. */
  add(told: Told): Known;
}

/**
 * The interfaces that are known, each joined with what the guest says of it, then the first ten that only
 * the guest knows. They are matched by hardware address; one without matches nothing. A bridge or a VLAN of
 * the guest has the address of the card below it, so that several may be joined to one.
 */
export function mergeGuestInterfaces<
  Known extends { readonly mac?: string },
  Told extends { readonly mac?: string },
>(
  known: readonly Known[],
  told: readonly Told[],
  { join, add }: InterfaceMerge<Known, Told>,
): readonly Known[] {
  const merged = [...known];
  const guestOnly: Known[] = [];
  for (const one of told) {
    const index = merged.findIndex(({ mac }) => isSameMac(mac, one.mac));
    const found = merged[index];
    if (found) merged[index] = join(found, one);
    else if (guestOnly.length < guestOnlyLimit) guestOnly.push(add(one));
  }
  return [...merged, ...guestOnly];
}

/**
 * The addresses of an interface, IPv4 first: of each family those that are known, or what the guest says
 * where that is none, or where none are known. An address that the guest does not have reaches nobody.
 */
export function mergeAddresses(known: readonly string[], told: readonly string[]): string[] {
  return [true, false].flatMap((v4) => {
    const [before = [], now = []] = [known, told].map((all) => all.filter((ip) => isV4(ip) === v4));
    return before.length === 0 || now.length === 0 ? now : before;
  });
}

function isV4(text: string): boolean {
  const ip = parseIp(text);
  return ip !== undefined && isIpv4(ip);
}

function isSameMac(one = "", other = ""): boolean {
  return one !== "" && one.toLowerCase() === other.toLowerCase();
}
