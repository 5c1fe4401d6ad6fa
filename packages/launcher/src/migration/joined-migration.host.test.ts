import { CertificateAuthority, migrationIdentity, nodeAgentIdentity } from "@virtkit/pki";
import { afterAll, beforeAll, expect, test } from "vitest";
import { claimedOn, type Moved, type MoveParts, move } from "../testing/joined-move.ts";
import { domain, inGuest, JoinedNodes } from "../testing/joined-nodes.ts";
import { MemoryGrantStore } from "../testing/memory-grant-store.ts";

let joined: JoinedNodes;
let authority: CertificateAuthority;
let bootId: string;
let number = 0;
const store = new MemoryGrantStore(claimedOn("a"));
const askBootId = "cat /proc/sys/kernel/random/boot_id";

beforeAll(async () => {
  const memory = { read: async () => undefined, swap: async () => true };
  authority = await CertificateAuthority.open({ store: memory, trustDomain: "lab" });
  joined = await JoinedNodes.start();
  bootId = await inGuest(joined.both[0], askBootId);
  await joined.limit("1600mbit");
});
afterAll(async () => await joined?.[Symbol.asyncDispose]());

async function moved(
  options?: Parameters<typeof move>[1],
  shows?: MoveParts["shows"],
): Promise<Moved> {
  const parts = { number: ++number, nodes: joined.both, store, authority };
  return await move(shows ? { ...parts, shows } : parts, options);
}

/** The same guest, there and nowhere else, with the grant. */
async function expectGuestOn(name: "a" | "b"): Promise<void> {
  expect(await joined.running()).toEqual([name]);
  expect(store.grant).toMatchObject({ state: "Claimed", holder: { node: name } });
  const [a, b] = joined.both;
  expect(await inGuest(name === "a" ? a : b, askBootId)).toBe(bootId);
}

const success = [
  { outcome: "moved", settled: "ended" },
  { outcome: "runs", settled: "runs" },
];

test("a guest moves there and back by the plan, in as many streams as its QEMU survives, through proxies with certificates", async () => {
  for (const node of ["b", "a"] as const) {
    const { ends, reports } = await moved({ parallelThreads: 2 });
    expect(ends.map(({ why }) => why)).toEqual([undefined, undefined]);
    expect(ends).toMatchObject(success);
    await expectGuestOn(node);
    const phases = new Set(reports.map(({ progress }) => progress?.phase));
    expect(phases).toContain("memory");
  }
}, 300_000);

test("the target's domain, running and persistent, contains no path of the source", async () => {
  expect((await moved()).ends).toMatchObject(success);
  const [a, b] = joined.both;
  for (const kept of [[], ["--inactive"]]) {
    const xml = await b.daemon.virsh("dumpxml", domain.name, ...kept);
    expect(xml).toContain(`${b.daemon.directory}/disk.raw`);
    expect(xml).not.toContain(a.daemon.directory);
  }
  expect((await moved()).ends).toMatchObject(success);
  await expectGuestOn("a");
});

test.each<[whose: string, shows: MoveParts["shows"]]>([
  ["another migration's target", { target: () => migrationIdentity("another", "target") }],
  ["the source, at the target", { target: (uid: string) => migrationIdentity(uid, "source") }],
  ["a node agent, at the source", { source: () => nodeAgentIdentity("a") }],
])(
  "a certificate of %s stops it before it begins; the guest keeps running",
  async (_whose, shows) => {
    await expect(moved({}, shows)).rejects.toMatchObject({ code: "MIGRATION_PEER_REFUSED" });
    await expectGuestOn("a");
  },
);

test("gives up a guest that dirties memory faster than the link, unharmed", async () => {
  await joined.limit("160mbit");
  await inGuest(joined.both[0], "setsid dirty 32 >/dev/null 2>&1 &");
  const { ends } = await moved({ progressTimeout: 5 });
  expect(ends).toMatchObject([{ outcome: "stayed", settled: "runs" }, { outcome: "ended" }]);
  expect(ends[0].why).toContain("has not decreased");
  await expectGuestOn("a");
}, 300_000);

test("auto-converge slows the same guest down until it moves", async () => {
  const { ends, reports } = await moved({ allowAutoConverge: true });
  expect(ends).toMatchObject(success);
  const throttled = reports.map(({ progress }) => progress?.throttlePercent ?? 0);
  expect(Math.max(...throttled)).toBeGreaterThan(0);
  await expectGuestOn("b");
}, 300_000);

test("post-copy switches the same guest when its time is up, and it is complete at the target", async () => {
  const may = { allowPostCopy: true, allowWorkloadDisruption: true };
  const { ends, reports } = await moved({ ...may, progressTimeout: 4 });
  expect(ends).toMatchObject(success);
  expect(reports.map(({ decision }) => decision)).toContain("committed");
  await expectGuestOn("a");
}, 300_000);
