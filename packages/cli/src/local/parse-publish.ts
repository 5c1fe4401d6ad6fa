import { isIPv4, isIPv6 } from "node:net";
import type { PublishedPort } from "@virtkit/local";
import { UsageError } from "../usage-error.ts";

/**
 * A port of this host that leads to one of the guest: `2222:22` on loopback, with an address of the host
 * before it (`192.0.2.7:2222:22`, `[2001:db8::7]:2222:22`) for all who reach that address, or a protocol
 * after it (`5353:53/udp`).
 *
 * @throws UsageError for anything else.
 */
export function parsePublish(text: string): PublishedPort {
  const parts = /^(?:(\[[^\]]*\]|[^:]*):)?(\d{1,5}):(\d{1,5})(?:\/(tcp|udp))?$/.exec(text);
  if (!parts) throw wrong(text);
  const [, address, host, guest, protocol = "tcp"] = parts;
  return {
    protocol: protocol as "tcp" | "udp",
    ...(address === undefined ? {} : { address: addressOf(text, address) }),
    host: port(text, host),
    guest: port(text, guest),
  };
}

function addressOf(text: string, written: string): string {
  if (isIPv4(written)) return written;
  const inner = /^\[(.*)\]$/.exec(written)?.[1] ?? "";
  // A zone names a link, and is only valid on that link.
  if (isIPv6(inner) && !inner.includes("%")) return inner;
  throw wrong(text);
}

/** How a published port is written for people. */
export function publishText({ address, host, guest, protocol }: PublishedPort): string {
  const shown = address === undefined ? "localhost" : isIPv6(address) ? `[${address}]` : address;
  return `${shown}:${host} -> guest ${guest}/${protocol}`;
}

/** Who can connect to a published port, for people; undefined if only this host can. */
export function exposureText({ address }: PublishedPort): string | undefined {
  if (address === undefined || address.startsWith("127.") || address === "::1") return undefined;
  const all: Readonly<Record<string, string>> = {
    "0.0.0.0": "every IPv4 address of this host",
    "::": "every IPv6 address of this host",
  };
  return `open to everyone who can reach ${all[address] ?? address}`;
}

function port(text: string, digits: string | undefined): number {
  const number = Number(digits);
  if (number >= 1 && number <= 65_535) return number;
  throw wrong(text);
}

function wrong(text: string): UsageError {
  return new UsageError(
    `--publish ${text}: use HOST:GUEST, for example 2222:22, or ADDRESS:HOST:GUEST, for example 0.0.0.0:2222:22 or [::]:2222:22`,
  );
}
