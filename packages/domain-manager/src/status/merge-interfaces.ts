import { mergeAddresses, mergeGuestInterfaces } from "@virtkit/api/network";
import type { GuestInterface } from "./domain-status.ts";

/**
 * The interfaces of the domain, each with its name and addresses in the guest, then those that only
 * the guest knows. If several are one card, the last name is used.
 */
export function mergeInterfaces(
  domain: readonly GuestInterface[],
  told: readonly GuestInterface[],
): readonly GuestInterface[] {
  return mergeGuestInterfaces(domain, told, {
    join: (known, { interfaceName, ips }) => ({
      ...known,
      ...(interfaceName === undefined ? {} : { interfaceName }),
      ips: mergeAddresses(known.ips, ips),
    }),
    add: (one) => one,
  });
}
