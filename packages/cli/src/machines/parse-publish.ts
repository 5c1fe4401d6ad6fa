import type { PublishedPort } from "@virtkit/node-agent/local";
import { UsageError } from "../usage-error.ts";

/**
 * A port of this host that leads to one of the guest: `2222:22`, with an address of the host before it
 * (`127.0.0.1:2222:22`) or a protocol after it (`5353:53/udp`).
 *
 * @throws UsageError for anything else.
 */
export function parsePublish(text: string): PublishedPort {
  const parts = /^(?:(\d{1,3}(?:\.\d{1,3}){3}):)?(\d{1,5}):(\d{1,5})(?:\/(tcp|udp))?$/.exec(text);
  if (!parts) throw wrong(text);
  const [, address, host, guest, protocol = "tcp"] = parts;
  return {
    protocol: protocol as "tcp" | "udp",
    ...(address === undefined ? {} : { address }),
    host: port(text, host),
    guest: port(text, guest),
  };
}

/** How a published port is written for people. */
export function publishText({ address, host, guest, protocol }: PublishedPort): string {
  return `${address ?? "localhost"}:${host} -> guest ${guest}/${protocol}`;
}

function port(text: string, digits: string | undefined): number {
  const number = Number(digits);
  if (number >= 1 && number <= 65_535) return number;
  throw wrong(text);
}

function wrong(text: string): UsageError {
  return new UsageError(`--publish ${text}: give HOST:GUEST, for example 2222:22`);
}
