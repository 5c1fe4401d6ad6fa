import type { Clock } from "@virtkit/api/clock";
import type { Observers } from "@virtkit/api/observe";
import type { Credentials } from "@virtkit/pki";
import { MigrationError } from "../migration-error.ts";
import { isChannelName } from "./greeting.ts";
import { defaultLimits, type ProxyLimits } from "./proxy-limits.ts";

/**
 * How the bytes of a channel travel. `control`: in our TLS. `sealed`: the same, for data that QEMU cannot encrypt
 * itself. `data`: unchanged, on a connection that was admitted over the control channel; QEMU encrypts it if
 * configured.
 */
export type ChannelKind = "control" | "sealed" | "data";

/** What both sides of a migration pass to their proxy. */
export interface ProxyOptions extends Observers {
  /** The migration; both peers must have a certificate for it. */
  readonly uid: string;
  /** Of this side of this migration. */
  readonly credentials: Credentials;
  readonly limits?: Partial<ProxyLimits>;
  readonly clock?: Clock;
  /** For the validity of certificates. */
  readonly now?: () => Date;
  /** Ends the proxy, as `close` does. */
  readonly signal?: AbortSignal;
}

/** The maximum of a timer, 24 days. */
const maxTime = 2 ** 31 - 1;

/** The limits, with defaults. Throws if one is not a positive number. */
export function checkLimits(limits: Partial<ProxyLimits> = {}): ProxyLimits {
  const all = { ...defaultLimits, ...limits };
  for (const [name, value] of Object.entries(all)) {
    if (typeof value === "number" && value > 0 && value <= maxTime) continue;
    throw invalid(`limits.${name}`, `is ${value}; it must be over 0 and at most ${maxTime}`);
  }
  return all;
}

/** Channels by name. Throws if a name is invalid, or two channels share it. */
export function checkChannels<C extends { readonly name: string }>(
  channels: readonly C[],
): ReadonlyMap<string, C> {
  const all = new Map<string, C>();
  for (const [index, channel] of channels.entries()) {
    const path = `channels[${index}].name`;
    const shown = JSON.stringify(channel.name);
    if (!isChannelName(channel.name)) {
      throw invalid(path, `is ${shown}; use up to 63 lower-case letters, digits and hyphens`);
    }
    if (all.has(channel.name)) throw invalid(path, `is ${shown}, like another one; rename one`);
    all.set(channel.name, channel);
  }
  return all;
}

function invalid(path: string, what: string): MigrationError {
  return new MigrationError("MIGRATION_INPUT_INVALID", `${path} ${what}`, { path });
}
