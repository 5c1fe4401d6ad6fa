import { ManualClock, sleep } from "@virtkit/api/clock";
import { expect, test } from "vitest";
import { KubeError } from "../client/kube-error.ts";
import { type Behaviour, MemoryClient, MemoryStore } from "../testing/memory-client.ts";
import { Election } from "./election.ts";
import { fencedClient } from "./fenced-client.ts";
import type { Leadership } from "./leadership.ts";
import { type Lease, leases } from "./lease.ts";

const namespace = "default";
const name = "demo";

/** Candidates for one lease; each works until it is told to stop. */
function setUp() {
  const clock = new ManualClock();
  const wall = (): Date => new Date(clock.now());
  const random = { number: () => 0.5, uuid: () => "uuid" };
  const store = new MemoryStore();
  const history: string[] = [];
  const candidate = (identity: string, behaviour: Behaviour = {}, options = {}) => {
    const client = new MemoryClient(store, behaviour);
    const base = { client, namespace, name, identity, clock, wall, random, ...options };
    const election = new Election(base);
    const stop = new AbortController();
    const terms: Leadership[] = [];
    const work = async (leadership: Leadership): Promise<void> => {
      terms.push(leadership);
      history.push(`${clock.now()} ${identity} starts`);
      await new Promise<void>((resolve) =>
        leadership.signal.addEventListener("abort", () => resolve(), { once: true }),
      );
      history.push(`${clock.now()} ${identity} stops`);
    };
    const leading = election.lead(work, { signal: stop.signal });
    return { client, election, stop, leading, terms };
  };
  const lease = async (): Promise<Lease> =>
    await new MemoryClient(store).get(leases, { namespace, name });
  return { clock, candidate, history, lease, store };
}

test("one candidate leads, renews, and releases the lease when asked to stop", async () => {
  const { clock, candidate, history, lease } = setUp();
  const one = candidate("one");
  await clock.pass(60_000);
  expect((await lease()).spec).toEqual({
    holderIdentity: "one",
    leaseDurationSeconds: 15,
    acquireTime: "1970-01-01T00:00:00.000000Z",
    renewTime: "1970-01-01T00:01:00.000000Z",
    leaseTransitions: 0,
  });
  one.stop.abort();
  await one.leading;
  expect(history).toEqual(["0 one starts", "60000 one stops"]);
  expect((await lease()).spec).toMatchObject({ holderIdentity: "", leaseDurationSeconds: 1 });
  expect(clock.pending).toBe(0);
});

test("the next candidate starts soon after a release", async () => {
  const { clock, candidate, history, lease } = setUp();
  const one = candidate("one");
  await clock.pass(1_000);
  candidate("two");
  await clock.pass(10_000);
  one.stop.abort();
  await clock.pass(5_000);
  expect(history).toEqual(["0 one starts", "11000 one stops", "13000 two starts"]);
  expect((await lease()).spec).toMatchObject({ holderIdentity: "two", leaseTransitions: 1 });
});

test("a holder that cannot renew stops one margin before the next one starts", async () => {
  const { clock, candidate, history } = setUp();
  let isCut = false;
  const before = (): void => {
    if (isCut) throw new KubeError("KUBE_CONNECTION", "cut");
  };
  candidate("one", { before });
  await clock.pass(1_000);
  candidate("two");
  await clock.pass(9_500);
  isCut = true;
  await clock.pass(30_000);
  // The last renewal was sent at 10,000: others see it by 11,000 and count 15 seconds from there.
  expect(history).toEqual(["0 one starts", "20000 one stops", "27000 two starts"]);
});

test("work that is asked to stop keeps the lease until it has stopped", async () => {
  const { clock, store, lease } = setUp();
  const election = new Election({ client: new MemoryClient(store), namespace, name, clock });
  const stop = new AbortController();
  const leading = election.lead(
    async ({ signal }) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      await sleep(clock, 60_000);
    },
    { signal: stop.signal },
  );
  await clock.pass(1_000);
  stop.abort();
  await clock.pass(59_000);
  expect((await lease()).spec?.holderIdentity).toBe(election.identity);
  await clock.pass(1_000);
  await leading;
  expect((await lease()).spec?.holderIdentity).toBe("");
});

test("work that continues after its lease has expired is reported", async () => {
  const { clock, store } = setUp();
  let isCut = false;
  const before = (): void => {
    if (isCut) throw new KubeError("KUBE_CONNECTION", "cut");
  };
  const told: string[] = [];
  const metrics = { count: (metric: string) => told.push(metric), observe: () => {} };
  const client = new MemoryClient(store, { before });
  const stop = new AbortController();
  const leading = new Election({ client, namespace, name, clock, metrics }).lead(
    () => sleep(clock, 60_000),
    { signal: stop.signal },
  );
  await clock.pass(100);
  isCut = true;
  await clock.pass(13_900);
  expect(told).not.toContain("kube_lease_overruns");
  await clock.pass(2_000);
  expect(told).toContain("kube_lease_overruns");
  stop.abort();
  await clock.pass(60_000);
  await leading;
  expect(clock.pending).toBe(0);
});

test("a server that takes eight seconds for each answer does not cost the lease", async () => {
  const { clock, candidate, history } = setUp();
  let latency = 0;
  const before = (): Promise<void> => sleep(clock, latency);
  candidate("one", { before });
  await clock.pass(5_000);
  latency = 7_900;
  await clock.pass(300_000);
  expect(history).toEqual(["0 one starts"]);
});

test("control: with one renewal at a time, the same server costs the lease", async () => {
  const { clock, candidate, history } = setUp();
  let latency = 0;
  let isBusy = false;
  const before = async (): Promise<void> => {
    // Whoever waits for the answer before it sends the next one.
    if (isBusy) throw new KubeError("KUBE_CONNECTION", "not sent");
    isBusy = true;
    await sleep(clock, latency);
    isBusy = false;
  };
  candidate("one", { before });
  await clock.pass(5_000);
  latency = 7_900;
  await clock.pass(60_000);
  expect(history).toContainEqual(expect.stringContaining("one stops"));
});

test("an answer that comes too late does not give a lease", async () => {
  const { clock, candidate, history } = setUp();
  const after = (): Promise<void> => sleep(clock, 11_000);
  candidate("one", { after });
  await clock.pass(120_000);
  expect(history).toEqual([]);
});

test("a lease taken without an answer is renewed before the work starts", async () => {
  const { clock, candidate, history, lease } = setUp();
  let isLost = true;
  const after = ({ verb }: { verb: string }): void => {
    if (verb === "create" && isLost) throw new KubeError("KUBE_CONNECTION", "no answer");
  };
  candidate("one", { after });
  await clock.pass(1_000);
  expect([history, (await lease()).spec?.holderIdentity]).toEqual([[], "one"]);
  isLost = false;
  await clock.pass(1_000);
  expect(history).toEqual(["2000 one starts"]);
});

test("a lease that somebody else has written to is lost at the next renewal", async () => {
  const { clock, candidate, history, lease, store } = setUp();
  candidate("one");
  await clock.pass(3_000);
  const { resourceVersion: _, ...metadata } = (await lease()).metadata;
  const spec = { holderIdentity: "thief", leaseDurationSeconds: 600 };
  await new MemoryClient(store).update(leases, { metadata, spec });
  await clock.pass(60_000);
  expect(history).toEqual(["0 one starts", "4000 one stops"]);
});

test("after a lost lease, a fenced client rejects every write and no read", async () => {
  const { clock, candidate } = setUp();
  let isCut = false;
  const one = candidate("one", {
    before: () => {
      if (isCut) throw new KubeError("KUBE_CONNECTION", "cut");
    },
  });
  await clock.pass(1_000);
  const [leadership] = one.terms;
  if (!leadership) throw new Error("one does not lead");
  const fenced = fencedClient(new MemoryClient(), leadership);
  const object = { metadata: { namespace, name: "x" } };
  const created = await fenced.create(leases, object);
  isCut = true;
  await clock.pass(30_000);
  const target = { namespace, name: "x" };
  const lost = expect.objectContaining({ code: "KUBE_LEASE_LOST" });
  const patch = { type: "json", operations: [] } as const;
  await expect(fenced.create(leases, object)).rejects.toEqual(lost);
  await expect(fenced.update(leases, created)).rejects.toEqual(lost);
  await expect(fenced.patch(leases, target, patch)).rejects.toEqual(lost);
  await expect(fenced.delete(leases, target)).rejects.toEqual(lost);
  await expect(fenced.request({ method: "POST", path: "/" })).rejects.toEqual(lost);
  await expect(fenced.get(leases, target)).resolves.toEqual(created);
});

test("work that returns or throws ends the election and frees the lease", async () => {
  const { clock, store } = setUp();
  const client = new MemoryClient(store);
  const holder = async (): Promise<string | undefined> =>
    (await client.get(leases, { namespace, name })).spec?.holderIdentity;
  const election = new Election({ client, namespace, name, clock });
  await expect(election.lead(async () => 42)).resolves.toBe(42);
  expect(await holder()).toBe("");
  const failing = election.lead(async () => {
    throw new Error("broken");
  });
  await expect(failing).rejects.toThrow("broken");
  expect([await holder(), clock.pending]).toEqual(["", 0]);
});

test("a suspended host has lost its lease, even though its timers did not count the time", async () => {
  const { clock, store } = setUp();
  let suspended = 0;
  const wall = (): Date => new Date(clock.now() + suspended);
  const election = new Election({ client: new MemoryClient(store), namespace, name, clock, wall });
  const stop = new AbortController();
  const states: boolean[] = [];
  const leading = election.lead(
    async (leadership) => {
      states.push(leadership.isHeld());
      suspended = 60_000;
      states.push(leadership.isHeld());
      stop.abort();
    },
    { signal: stop.signal },
  );
  await leading;
  expect(states).toEqual([true, false]);
});

test.each([
  [{ leaseDuration: 1_500 }, /leaseDuration is 1500; it must be whole seconds/],
  [{ margin: 0 }, /margin is 0; it must be more than 0/],
  [{ renewEvery: 6_000 }, /renewEvery is 6000; twice that must fit/],
])("rejects inconsistent times: %j", (times, message) => {
  const client = new MemoryClient();
  expect(() => new Election({ client, namespace, name, ...times })).toThrow(message);
});
