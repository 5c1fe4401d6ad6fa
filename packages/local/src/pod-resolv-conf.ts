import { readFile } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import type { NetworkMode } from "./network-table.ts";

/** The host's, and where systemd-resolved keeps its upstream servers. */
const files = ["/etc/resolv.conf", "/run/systemd/resolve/resolv.conf"];

/** The name servers of the host that a Pod can reach. */
export async function readPodResolvConf(mode: NetworkMode): Promise<string> {
  // Not every host has both.
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8").catch(() => "")));
  const own = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return podResolvConf(texts, mode === "open" ? [] : own.map(({ address }) => address));
}

/**
 * The first resolv.conf that names a server which a Pod can reach, without the others that it
 * names: loopback is the Pod's own there, and addresses of the host are blocked. If none does, the
 * first one without servers.
 */
export function podResolvConf(texts: readonly string[], closed: readonly string[]): string {
  const kept = texts.map((text) => text.split("\n").filter((line) => isReachable(line, closed)));
  const found = kept.find((lines) => lines.some((line) => line.startsWith("nameserver")));
  return (found ?? kept[0] ?? []).join("\n");
}

function isReachable(line: string, closed: readonly string[]): boolean {
  const address = /^nameserver\s+([^\s%]+)/.exec(line)?.[1];
  if (address === undefined) return true;
  return !address.startsWith("127.") && address !== "::1" && !closed.includes(address);
}
