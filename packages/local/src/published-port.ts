import { isIPv6 } from "node:net";
import { NodeAgentError } from "@virtkit/node-agent/errors";

/** A port of this host that leads to a port of the guest. */
export interface PublishedPort {
  readonly protocol: "tcp" | "udp";
  /** The address of the host that it is opened on; `0.0.0.0` and `::` are all of a family. Default: loopback, both families. */
  readonly address?: string;
  readonly host: number;
  readonly guest: number;
}

const loopback = ["127.0.0.1", "::1"];

/** The addresses on which a published port listens. */
export function listenAddresses({ address }: Pick<PublishedPort, "address">): readonly string[] {
  return address === undefined ? loopback : [address];
}

/** An address and a port as in URLs. */
export function hostPort(address: string, port: number): string {
  return isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`;
}

/** @throws NodeAgentError if two of the ports would listen in the same place. */
export function requireDistinctPorts(published: readonly PublishedPort[]): void {
  for (const [index, port] of published.entries()) {
    if (!published.slice(0, index).some((other) => overlap(port, other))) continue;
    const message = `publish: port ${port.host}/${port.protocol} of this host is published twice; use a different host port for each guest port`;
    throw new NodeAgentError("AGENT_ARGUMENT", message, { path: "publish" });
  }
}

function overlap(one: PublishedPort, other: PublishedPort): boolean {
  if (one.protocol !== other.protocol || one.host !== other.host) return false;
  return listenAddresses(one).some((address) =>
    listenAddresses(other).some((another) => isSamePlace(address, another)),
  );
}

function isSamePlace(one: string, other: string): boolean {
  if (isIPv6(one) !== isIPv6(other)) return false;
  const [left, right] = [canonical(one), canonical(other)];
  const all = isIPv6(one) ? canonical("::") : "0.0.0.0";
  return left === right || left === all || right === all;
}

/** An IPv6 address has many spellings: `::1` is `0:0:0:0:0:0:0:1`. */
function canonical(address: string): string {
  return isIPv6(address) ? new URL(`http://[${address}]`).hostname : address;
}
