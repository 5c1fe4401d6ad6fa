import { isIpv4, parseIp } from "../addresses/ip-address.ts";

/** The maximum number of interfaces that only the guest knows, as in KubeVirt. A guest may have thousands. */
const guestOnlyLimit = 10;

/** How {@link mergeGuestInterfaces} merges two. */
export interface InterfaceMerge<Known, Told> {
  join(known: Known, told: Told): Known;
  /** An interface that only the guest knows. */
  add(told: Told): Known;
}

/**
 * The known interfaces, each merged with the guest's report, then the first ten that only the guest knows. They
 * are matched by hardware address; an interface without one matches nothing. A bridge or a VLAN in the guest
 * has the address of the card below it, so several may be merged into one.
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
 * The addresses of an interface, IPv4 first. For each family: the known ones, or the guest's if that reports
 * none or none are known. An address that the guest does not have reaches nobody.
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
