import { mergeAddresses, mergeGuestInterfaces } from "@virtkit/api/network";
import type { GuestInterface } from "./domain-status.ts";

/**
 * The interfaces of the domain, each with what the guest calls it and which addresses it has there, then
 * those that only the guest knows. Of several that are one card the name is that of the last.
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
