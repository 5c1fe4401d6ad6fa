import { ManualClock } from "@virtkit/api/clock";
import { afterEach, expect, test } from "vitest";
import { DecisionFile, type TargetEnd, type TargetState } from "../handover/index.ts";
import { type Answers, FakeLibvirt, remote } from "../testing/fake-libvirt.ts";
import {
  handingOver,
  MemoryGrantStore,
  migration,
  sourceHolder,
  temporaryDirectory,
} from "../testing/handover-fixture.ts";
import { handoverGrant } from "./drive-grant.ts";
import { type SettledSource, settleSource } from "./drive-settle.ts";

const directory = temporaryDirectory(afterEach);
const { migrationUID } = migration;
const never = (): Promise<never> => new Promise(() => {});

const still = (): TargetState => "paused";
const runs = (): TargetState => "incomplete";

/** What QEMU says of its stream. */
const saying = (status: string): Answers => ({
  qemuMonitorCommand: () => ({ result: JSON.stringify({ return: { status } }) }),
});

/** A source whose post-copy has failed, and a target that says what it has; what it was asked to do is noted. */
async function settle(
  answers: Answers,
  {
    states,
    paused = false,
    source = "paused (postcopyFailed)",
    later = source,
  }: {
    readonly states: () => TargetState;
    readonly paused?: boolean | undefined;
    readonly source?: string;
    /** The source's state from *finish* on. */
    readonly later?: string;
  },
): Promise<{ readonly settled: SettledSource; readonly told: readonly string[] }> {
  const libvirt = new FakeLibvirt(source, answers);
  const store = new MemoryGrantStore();
  store.grant = { ...handingOver, state: "Committed" };
  const decision = new DecisionFile(directory(), migrationUID);
  decision.begin({ ...migration, paused });
  decision.settle({ outcome: "committed", migrationUID });
  const told: string[] = [];
  const target: TargetEnd = {
    ...{ prepare: never, release: never },
    state: async () => (told.includes("abort") ? "absent" : states()),
    finish: async () => {
      told.push("finish");
      libvirt.state = later;
      throw new Error("no answer");
    },
    abort: async () => void told.push("abort"),
  };
  const grant = handoverGrant(store, sourceHolder);
  const domain = "5d307ca9-b3ef-428c-8861-06e72d69f223";
  const parts = { libvirt, domain, migration, decision, target, grant, patience: 50 };
  const settled = await settleSource(parts);
  expect(libvirt.changes.filter((name) => name !== "qemuMonitorCommand")).toEqual([]);
  expect(store.grant.state).toBe("Committed");
  return { settled, told };
}

test("if the stream broke and the target does not start to run, its copy is ended, and the VM must start cold", async () => {
  const { settled, told } = await settle(saying("postcopy-paused"), { states: still });
  expect(told).toEqual(["finish", "abort"]);
  expect(settled).toMatchObject({ source: "waits", for: "coldStart" });
  expect(settled).toHaveProperty("why", expect.stringContaining("end both launcher Pods"));
});

test("a stream that breaks while the target is asked to run is seen at once, and not in the next attempt alone", async () => {
  const source = "paused (postcopy)";
  const later = "paused (postcopyFailed)";
  const { settled, told } = await settle(saying("postcopy-paused"), {
    ...{ states: still, source, later },
  });
  expect(told).toEqual(["finish", "abort"]);
  expect(settled).toMatchObject({ source: "waits", for: "coldStart" });
});

/** Runs from the fourth question on. */
function late(): () => TargetState {
  let asked = 0;
  return () => (++asked > 3 ? "incomplete" : "paused");
}

test.each([
  ["the memory still flows", saying("postcopy-active"), still, false],
  ["QEMU does not report the state of its stream", saying("failed"), still, false],
  ["the guest's user had paused it", saying("postcopy-paused"), still, true],
  ["the target runs", saying("postcopy-paused"), runs, false],
  ["the target runs late", saying("postcopy-paused"), late(), false],
] as const)(
  "a target's copy is kept, and post-copy must be recovered, if %s",
  async (_, answers, states, paused) => {
    const { settled, told } = await settle(answers, { states, paused });
    expect(told).not.toContain("abort");
    expect(settled).toMatchObject({ source: "waits", for: "recovery" });
    expect(settled).toHaveProperty("why", expect.stringMatching(/recover the post-copy; if that/));
  },
);

test("a target that does not answer may have the guest: nothing is ended, and the message says where to look", async () => {
  const { settled, told } = await settle(saying("postcopy-paused"), {
    states: (): never => {
      throw new Error("the link is down");
    },
  });
  expect(told).toEqual([]);
  expect(settled).toMatchObject({ source: "waits", for: "recovery" });
  expect(settled).toHaveProperty("why", expect.stringContaining("the link between the nodes"));
});

test("a source whose memory has all left before its target ran: the target is started, and the VM does not start cold", async () => {
  const source = "shutoff (migrated)";
  const { settled, told } = await settle({}, { states: still, source });
  expect(told).toEqual(["finish"]);
  expect(settled).toMatchObject({ source: "waits", for: "claim" });
});

test("a source whose QEMU was killed in post-copy starts no target: nobody has all of the memory", async () => {
  const source = "shutoff (crashed)";
  const { settled, told } = await settle({}, { states: still, source });
  expect(told).toEqual([]);
  expect(settled).toMatchObject({ source: "waits", for: "coldStart" });
});

/** A source that has committed and not switched yet, as the next process finds it. */
function committed(libvirt: FakeLibvirt): {
  readonly settle: (clock?: ManualClock) => Promise<SettledSource>;
  readonly decision: DecisionFile;
  readonly store: MemoryGrantStore;
  /** What the target was told, with the decision that was on disk by then. */
  readonly told: string[];
} {
  const store = new MemoryGrantStore();
  store.grant = { ...handingOver, state: "Committed" };
  const decision = new DecisionFile(directory(), migrationUID);
  decision.begin({ ...migration, paused: false });
  decision.settle({ outcome: "committed", migrationUID });
  const told: string[] = [];
  const tell = (what: string): void => void told.push(`${what}: ${decision.decision()?.outcome}`);
  const target: TargetEnd = {
    ...{ prepare: never, release: never, state: async () => still() },
    finish: async () => {
      tell("finish");
      return { cookie: new Uint8Array() };
    },
    abort: async () => tell("abort"),
  };
  const grant = handoverGrant(store, sourceHolder);
  const domain = "5d307ca9-b3ef-428c-8861-06e72d69f223";
  const parts = { libvirt, domain, migration, decision, target, grant, patience: 50 };
  return {
    settle: async (clock?: ManualClock) => await settleSource(parts, { ...(clock && { clock }) }),
    decision,
    store,
    told,
  };
}

test("a switch that QEMU makes while the source is settled stands: nothing is returned, and the target keeps its copy", async () => {
  const libvirt: FakeLibvirt = new FakeLibvirt("running (booted)", {
    domainGetJobStats: () => {
      libvirt.state = "paused (postcopy)";
      return { type: "unbounded", params: {} };
    },
    domainAbortJob: () => {
      throw remote(55, "cannot abort migration in post-copy mode");
    },
  });
  const { settle, decision, store, told } = committed(libvirt);
  expect(await settle()).toMatchObject({ source: "waits", for: "recovery" });
  expect(decision.decision()?.outcome).toBe("committed");
  expect(store.grant.state).toBe("Committed");
  expect(told).toEqual(["finish: committed"]);
  expect(libvirt.changes).not.toContain("domainMigrateConfirm");
});

test("a source goes back and the target is told once the job has ended without a switch, and not before", async () => {
  const types = ["unbounded", "cancelled", "none"];
  const libvirt = new FakeLibvirt("running (booted)", {
    domainGetJobStats: () => {
      expect(told).toEqual([]);
      return { type: types.shift() ?? "none", params: {} };
    },
  });
  const { settle, store, told } = committed(libvirt);
  expect(await settle()).toMatchObject({ source: "runs" });
  expect(types).toEqual([]);
  expect(told).toEqual(["abort: returned"]);
  expect(store.grant.state).toBe("Claimed");
});

test("a job that does not end leaves the source committed, and the target is not told", async () => {
  const libvirt = new FakeLibvirt("running (booted)", {
    domainGetJobStats: () => ({ type: "unbounded", params: {} }),
  });
  const { settle, decision, told } = committed(libvirt);
  const clock = new ManualClock();
  const settling = expect(settle(clock)).rejects.toMatchObject({ path: "source/perform" });
  await clock.pass(10_000);
  await settling;
  expect(decision.decision()?.outcome).toBe("committed");
  expect(told).toEqual([]);
});

test.each([
  ["paused (user)", "postcopy-active", "waits", "committed"],
  ["paused (user)", "postcopy-paused", "waits", "committed"],
  ["paused (user)", "cancelled", "paused", "returned"],
  ["paused (migration)", "postcopy-active", "waits", "committed"],
  ["paused (migration)", "completed", "runs", "returned"],
] as const)(
  "of a source that is %s, QEMU says whether it has switched: %s",
  async (state, status, source, outcome) => {
    const libvirt: FakeLibvirt = new FakeLibvirt(state, {
      ...saying(status),
      domainResume: () => {
        libvirt.state = "running (booted)";
        return {};
      },
    });
    const { settle, decision, told } = committed(libvirt);
    expect(await settle()).toMatchObject({ source });
    expect(decision.decision()?.outcome).toBe(outcome);
    expect(told).toEqual(outcome === "returned" ? ["abort: returned"] : []);
  },
);

test("a paused source whose QEMU does not say whether it has switched stays committed", async () => {
  const { settle, decision, told } = committed(new FakeLibvirt("paused (migration)"));
  await expect(settle()).rejects.toMatchObject({ path: "source/switch" });
  expect(decision.decision()?.outcome).toBe("committed");
  expect(told).toEqual([]);
});
