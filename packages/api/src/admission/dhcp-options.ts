import { isIpv4, parseIp } from "../addresses/ip-address.ts";
import type { Interface } from "../schema/index.ts";
import { type Cause, each, fine, invalid, join, quote } from "./cause.ts";

/** DHCP settings for the guest: each private option once, time servers by IPv4 address. */
export function dhcpOptions(
  iface: Interface,
  { field, at }: { field: string; at: string },
): readonly Cause[] {
  const options = iface.dhcpOptions;
  if (!options) return fine;
  const numbers = options.privateOptions?.map(({ option }) => option) ?? [];
  const subject = `${field}.dhcpOptions.privateOptions`;
  return join(
    new Set(numbers).size < numbers.length
      ? invalid(at, "has an option number twice; keep one of each", subject)
      : fine,
    numbers
      .filter((number) => number < 224 || number > 254)
      .flatMap((number) =>
        invalid(at, `has the option ${quote(number)}; private options are 224 to 254`, subject),
      ),
    each(options.ntpServers, (server, i) =>
      timeServer(server, `${field}.dhcpOptions.ntpServers[${i}]`),
    ),
  );
}

function timeServer(server: string, field: string): readonly Cause[] {
  const address = parseIp(server);
  if (address && isIpv4(address)) return fine;
  return invalid(field, `is ${quote(server)}; use an IPv4 address`);
}
