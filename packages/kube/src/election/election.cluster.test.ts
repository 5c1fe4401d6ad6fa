import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { HttpClient } from "../client/http-client.ts";
import { createNamespace } from "../testing/config-maps.ts";
import { sharedClient } from "../testing/real-api-server.ts";
import { leases } from "./lease.ts";

const namespace = "kube-election";
const program = fileURLToPath(new URL("../testing/electing-process.mjs", import.meta.url));
const children = new Set<ChildProcess>();
let folder = "";
let client: HttpClient;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "virtkit-election-"));
  client = await sharedClient();
  await createNamespace(client, namespace);
});
afterAll(async () => {
  for (const child of children) child.kill("SIGKILL");
  client.close();
  await rm(folder, { recursive: true });
});

interface Act {
  readonly now: bigint;
  readonly identity: string;
  readonly term: number;
}

/** The acts of all candidates for a lease, in the order in which they were allowed. */
async function actsOf(file: string): Promise<Act[]> {
  const text = await readFile(file, "utf8").catch(
    // Nobody has acted yet.
    () => "",
  );
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line))
    .map((act) => ({ ...act, now: BigInt(act.now) }))
    .sort((one, other) => (one.now < other.now ? -1 : 1));
}

/** Who was at work, one after the other. */
function terms(acts: readonly Act[]): string[] {
  return acts
    .map(({ identity, term }) => `${identity} ${term}`)
    .filter((term, index, all) => term !== all[index - 1]);
}

function start(lease: string, identity: string, way: "careful" | "trusting"): ChildProcess {
  const kubeconfig = process.env["VIRTKIT_APISERVER_KUBECONFIG"] ?? "";
  const args = [program, kubeconfig, namespace, lease, identity, `${folder}/${lease}`, way];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "inherit", "inherit"] });
  children.add(child);
  child.once("exit", () => children.delete(child));
  return child;
}

async function ended(child: ChildProcess): Promise<number | null> {
  child.kill("SIGTERM");
  return await new Promise((resolve) => child.once("exit", resolve));
}

/**
 * Freezes the first of two candidates in the middle of its work until the second one works, and ends the second one
 * then. Returns who was at work, one after the other.
 */
async function freezeFirst(lease: string, way: "careful" | "trusting"): Promise<string[]> {
  const all = (): Promise<Act[]> => actsOf(`${folder}/${lease}`);
  /** Until so many more acts of one candidate have been seen. */
  const see = async (identity: string, more: number): Promise<void> => {
    const count = async (): Promise<number> =>
      (await all()).filter((act) => act.identity === identity).length;
    const before = await count();
    await expect.poll(count, { timeout: 50_000, interval: 50 }).toBeGreaterThan(before + more);
  };
  const one = start(lease, "one", way);
  await see("one", 5);
  const two = start(lease, "two", way);
  // Long enough for the second one to have looked at the lease.
  await see("one", 100);
  one.kill("SIGSTOP");
  await see("two", 5);
  one.kill("SIGCONT");
  await see("two", 50);
  expect(await ended(two)).toBe(0);
  await see("one", 5);
  expect(await ended(one)).toBe(0);
  const { spec } = await client.get(leases, { namespace, name: lease });
  expect(spec?.holderIdentity).toBe("");
  return terms(await all());
}

test("two processes at a real API server, one of them frozen half-way, never work at once", async () => {
  const seen = await freezeFirst("frozen", "careful");
  // At least one, two and one again; on a busy machine a lease may be lost once more. Nobody comes back into a term.
  expect(seen.length).toBeGreaterThanOrEqual(3);
  expect(new Set(seen).size).toBe(seen.length);
}, 240_000);

test("control: a process that relies on its signal alone works beside the other when it wakes up", async () => {
  const seen = await freezeFirst("trusting", "trusting");
  expect(new Set(seen).size).toBeLessThan(seen.length);
}, 240_000);
