import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { claimAddresses, releaseAddresses } from "./local-network.ts";

async function stateDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "virtkit-state-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

test("no two Pods have the same addresses, and a Pod that asks again keeps its own", async () => {
  const state = await stateDirectory();
  const uids = ["a", "b", "c", "d", "e", "f"];
  const all = await Promise.all(uids.map((uid) => claimAddresses(state, uid)));
  expect(new Set(all.map(({ podAddress }) => podAddress)).size).toBe(uids.length);
  expect(await claimAddresses(state, "c")).toEqual(all[2]);
});

test("reuses addresses that were given back", async () => {
  const state = await stateDirectory();
  const first = await claimAddresses(state, "a");
  await claimAddresses(state, "b");
  await releaseAddresses(state, "a");
  await releaseAddresses(state, "a");
  expect(await claimAddresses(state, "c")).toEqual(first);
});

test("two state directories look for addresses from different places", async () => {
  const found = new Set<string>();
  for (let count = 0; count < 8; count++) {
    found.add((await claimAddresses(await stateDirectory(), "a")).podAddress);
  }
  expect(found.size).toBeGreaterThan(4);
});
