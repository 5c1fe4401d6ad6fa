import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startChild } from "@virtkit/host-primitives/children";
import { NetworkSetupError } from "../network-setup-error.ts";
import { type NatFamily, type NatTable, natChains } from "../plan/nat-rules.ts";
import { addNatDocument, deleteNatDocument, type NftDocument } from "./nft-document.ts";
import type { PodNetwork } from "./pod-network.ts";

const maxOutputBytes = 4 << 20;
const timeoutMs = 30_000;

/**
 * Puts the NAT into the namespace in one transaction. True if it changed something; false if our
 * chains exist already, because then all of it is there. Throws a {@link NetworkSetupError} if
 * someone else has a chain with one of our names.
 */
export async function addNat(network: PodNetwork, tables: readonly NatTable[]): Promise<boolean> {
  const { code, errors } = await runNft(network, addNatDocument(tables));
  if (code === 0) return true;
  const found = await Promise.all(tables.map(({ family }) => chainsOf(network, family)));
  if (found.every((chains) => chains.has("KUBEVIRT_PREINBOUND"))) return false;
  throw refused("add the NAT", errors);
}

/**
 * Removes the NAT: our chains, and the table if nothing else is in it. False if it is not there.
 */
export async function deleteNat(
  network: PodNetwork,
  tables: readonly NatTable[],
): Promise<boolean> {
  const present: NatFamily[] = [];
  const whole = new Set<NatFamily>();
  for (const { family } of tables) {
    const chains = await chainsOf(network, family);
    if (!chains.has("KUBEVIRT_PREINBOUND")) continue;
    present.push(family);
    if ([...chains].every((name) => Object.hasOwn(natChains, name))) whole.add(family);
  }
  if (present.length === 0) return false;
  const { code, errors } = await runNft(network, deleteNatDocument(present, whole));
  if (code !== 0) throw refused("delete the NAT", errors);
  return true;
}

/** Names of everything in the table: chains and others. */
async function chainsOf(network: PodNetwork, family: NatFamily): Promise<ReadonlySet<string>> {
  const list = { list: { table: { family, name: "nat" } } };
  const { code, output } = await runNft(network, { nftables: [list] });
  if (code !== 0) return new Set();
  const { nftables } = JSON.parse(output) as { nftables: Record<string, { name?: string }>[] };
  const named = nftables.flatMap((item) =>
    Object.entries(item).flatMap(([kind, { name }]) =>
      kind === "metainfo" || kind === "table" || kind === "rule" ? [] : (name ?? kind),
    ),
  );
  return new Set(named);
}

function refused(what: string, errors: string): NetworkSetupError {
  const message = `nft refused to ${what}: ${errors.trim().slice(0, 500)}`;
  return new NetworkSetupError("NETWORK_NAT_REFUSED", message, { path: what });
}

interface NftResult {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

/**
 * Runs `nft` in the namespace. It opens its input by name, which works for a file but not for one
 * of Node's pipes.
 */
async function runNft(network: PodNetwork, document: NftDocument): Promise<NftResult> {
  const directory = mkdtempSync(join(tmpdir(), "virtkit-nft-"));
  const file = join(directory, "document.json");
  writeFileSync(file, JSON.stringify(document), { mode: 0o600 });
  const input = openSync(file, "r");
  rmSync(directory, { recursive: true });
  try {
    const child = startChild({
      command: "nft",
      args: ["-j", "-f", "/dev/stdin"],
      join: [network.namespace],
      stdio: [input, "pipe", "pipe"],
      signal: AbortSignal.timeout(timeoutMs),
    });
    const texts = { output: "", errors: "" };
    for (const [stream, name] of [
      [child.stdout, "output"],
      [child.stderr, "errors"],
    ] as const) {
      stream?.setEncoding("utf8").on("data", (chunk: string) => {
        if (texts[name].length < maxOutputBytes) texts[name] += chunk;
      });
    }
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    return { code, ...texts };
  } finally {
    closeSync(input);
  }
}
