import { appendFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { tryTool } from "./run-tool.ts";

/**
 * Links whose forwarding was off before, one per line; for all state directories of the host, until
 * its next boot.
 */
const record = "/run/virtkit/forwarding";

/** What administrators and other programs switch, as container engines do; links follow it. */
const forAll = "/proc/sys/net/ipv4/ip_forward";

function setting(link: string): string {
  return `/proc/sys/net/ipv4/conf/${link}/forwarding`;
}

/**
 * Lets the host forward what arrives by its default route, which are answers to Pods. Changes
 * nothing on a host that already does.
 */
export async function turnOnForwarding(): Promise<void> {
  const link = await defaultRouteLink();
  if (link === undefined || (await readFile(setting(link), "utf8")).trim() === "1") return;
  await mkdir(dirname(record), { recursive: true });
  // Before it is done, so that it can be restored after a crash.
  await appendFile(record, `${link}\n`);
  await writeFile(setting(link), "1");
}

/** The link by which the host reaches the outside; undefined if there is none. */
export async function defaultRouteLink(): Promise<string | undefined> {
  const { stdout } = await tryTool("ip", ["-4", "route", "show", "default"]);
  return /\bdev (\S+)/.exec(stdout)?.[1];
}

/** Restores that once no Pod of local mode is left on this host. */
export async function restoreForwarding(): Promise<void> {
  // Without a record there is nothing to put back.
  const text = await readFile(record, "utf8").catch(() => "");
  const links = [...new Set(text.split("\n"))].filter((link) => /^[^/\s]{1,15}$/.test(link));
  if (links.length === 0 || (await hasPods())) return;
  // Someone else has turned it on for all links since, and relies on it.
  const isWanted = (await readFile(forAll, "utf8")).trim() === "1";
  if (!isWanted) await setAll(links, "0");
  // A Pod that came meanwhile has found it on and relies on it.
  if (await hasPods()) await setAll(links, "1");
  else await rm(record, { force: true });
}

async function setAll(links: readonly string[], value: "0" | "1"): Promise<void> {
  // A link may be gone.
  for (const link of links) await writeFile(setting(link), value).catch(() => undefined);
}

/** Each Pod has its table before it looks at forwarding. If tables cannot be listed, there may be one. */
async function hasPods(): Promise<boolean> {
  const { code, stdout } = await tryTool("nft", ["list", "tables", "inet"]);
  return code !== 0 || stdout.includes("virtkit_");
}
