import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { claimAddresses, nftTable, releaseAddresses } from "./local-network.ts";

async function stateDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "virtkit-state-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

test("no two Pods have the same addresses, and one that asks again keeps its own", async () => {
  const state = await stateDirectory();
  const uids = ["a", "b", "c", "d", "e", "f"];
  const all = await Promise.all(uids.map((uid) => claimAddresses(state, uid)));
  expect(new Set(all.map(({ podAddress }) => podAddress)).size).toBe(uids.length);
  expect(await claimAddresses(state, "c")).toEqual(all[2]);
});

test("addresses that were given back are given out again", async () => {
  const state = await stateDirectory();
  const first = await claimAddresses(state, "a");
  await claimAddresses(state, "b");
  await releaseAddresses(state, "a");
  await releaseAddresses(state, "a");
  expect(await claimAddresses(state, "c")).toEqual(first);
});

test("a published port leads to the Pod from outside and from the host, and to nothing else", () => {
  const text = nftTable(
    { nftTable: "virtkit_1", hostLink: "vk1" },
    { hostAddress: "10.87.0.1", podAddress: "10.87.0.2" },
    [
      { protocol: "tcp", host: 2222, guest: 22 },
      { protocol: "udp", address: "127.0.0.1", host: 5353, guest: 53 },
    ],
  );
  const lines = text.split("\n").map((line) => line.trim());
  const tcp = "fib daddr type local tcp dport 2222 dnat to 10.87.0.2:22";
  const udp = "ip daddr 127.0.0.1 udp dport 5353 dnat to 10.87.0.2:53";
  expect(lines.filter((line) => line.includes("dnat"))).toEqual([tcp, udp, tcp, udp]);
});

test("what the Pod sends to the host's loopback is dropped", () => {
  const names = { nftTable: "virtkit_1", hostLink: "vk1" };
  const network = { hostAddress: "10.87.0.1", podAddress: "10.87.0.2" };
  expect(nftTable(names, network, [])).toContain('iifname "vk1" ip daddr 127.0.0.0/8 drop');
});
