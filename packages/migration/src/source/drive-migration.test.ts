import { realClock } from "@virtkit/api/clock";
import { afterEach, expect, test } from "vitest";
import { DecisionFile, type TargetEnd, type TargetState } from "../handover/index.ts";
import { FakeLibvirt, remote } from "../testing/fake-libvirt.ts";
import {
  handingOver,
  MemoryGrantStore,
  migration,
  sourceHolder,
  temporaryDirectory,
} from "../testing/handover-fixture.ts";
import { handoverGrant } from "./drive-grant.ts";
import { type DriveParts, driveMigration } from "./drive-migration.ts";
import type { DrivePlan } from "./drive-parts.ts";
import { settleSource } from "./drive-settle.ts";

const directory = temporaryDirectory(afterEach);
const { migrationUID } = migration;
const plan: DrivePlan = {
  flags: ["live", "persistDestination", "changeProtection"],
  params: { migrate_uri: "unix:///out.sock" },
};

/** A target that does as it is told, and notes it with the decision that was on disk by then. */
class FakeTarget implements TargetEnd {
  readonly heard: string[] = [];
  readonly failing = new Set<keyof TargetEnd>();
  flags: readonly string[] = [];
  copy: TargetState = "absent";
  /** At which question about its copy that is gone. */
  leaves = Number.POSITIVE_INFINITY;

  readonly prepare: TargetEnd["prepare"] = async () => this.#answer("prepare");
  readonly finish: TargetEnd["finish"] = async ({ flags }) => {
    this.flags = flags;
    return this.#answer("finish");
  };
  readonly release: TargetEnd["release"] = async () => void this.#answer("release");
  readonly abort: TargetEnd["abort"] = async () => void this.#answer("abort");
  readonly state: TargetEnd["state"] = async () => {
    this.#answer("state");
    return --this.leaves > 0 ? this.copy : "absent";
  };

  #answer(method: keyof TargetEnd): { cookie: Uint8Array } {
    const outcome = new DecisionFile(directory(), migrationUID).decision()?.outcome ?? "open";
    this.heard.push(`${method}: ${outcome}`);
    if (this.failing.has(method)) throw new Error(`${method} was lost`);
    return { cookie: new Uint8Array() };
  }
}

interface World {
  readonly libvirt: FakeLibvirt;
  readonly long: FakeLibvirt;
  readonly target: FakeTarget;
  readonly store: MemoryGrantStore;
  readonly parts: DriveParts;
  readonly decision: DecisionFile;
}

/** The connection of a perform that stops the guest and answers. */
function performs(libvirt: FakeLibvirt): FakeLibvirt {
  return new FakeLibvirt("running (booted)", {
    domainMigratePerform: () => {
      libvirt.state = "paused (migration)";
      return { cookie: new Uint8Array() };
    },
    // Another connection to the same libvirtd.
    domainMigrateConfirm: (args) => libvirt.call("domainMigrateConfirm", args),
  });
}

/** A source whose libvirt plays along: perform stops the guest, confirm ends it or brings it back. */
function world(more: Partial<DriveParts> = {}): World {
  const libvirt: FakeLibvirt = new FakeLibvirt("running (booted)", {
    domainMigrateConfirm: ({ cancelled }) => {
      // What its user had paused libvirt does not resume.
      const back = libvirt.state === "paused (user)" ? libvirt.state : "running (booted)";
      libvirt.state = cancelled ? back : "shutoff (migrated)";
      return {};
    },
    domainResume: () => {
      libvirt.state = "running (booted)";
      return {};
    },
    domainDestroy: () => {
      libvirt.state = "shutoff (migrated)";
      return {};
    },
    qemuMonitorCommand: () => {
      const status = libvirt.state.includes("postcopy") ? "postcopy-active" : "completed";
      return { result: JSON.stringify({ return: { status } }) };
    },
  });
  const long = performs(libvirt);
  const target = new FakeTarget();
  const store = new MemoryGrantStore();
  const decision = new DecisionFile(directory(), migrationUID);
  const grant = handoverGrant(store, sourceHolder);
  const domain = "5d307ca9-b3ef-428c-8861-06e72d69f223";
  const common = { libvirt, long, domain, migration, decision, target, grant };
  const parts = { ...common, paused: false, patience: 50, ...more };
  return { libvirt, long, target, store, decision, parts };
}

test("the decision is on disk before the target receives a release, and confirm comes last", async () => {
  const { libvirt, target, store, parts } = world();
  const outcome = await driveMigration(plan, parts).outcome;
  expect(outcome).toMatchObject({ outcome: "moved", by: "preCopy", settled: { source: "ended" } });
  expect(target.heard).toEqual(["prepare: open", "finish: open", "release: released"]);
  expect(target.flags).toContain("paused");
  expect(libvirt.changes.at(-1)).toBe("domainMigrateConfirm");
  expect(store.grant.state).toBe("Released");
});

test.each(["prepare", "finish"] as const)(
  "%s without an answer: aborted, and the source continues",
  async (phase) => {
    const { libvirt, target, store, parts, decision } = world();
    target.failing.add(phase);
    expect(await driveMigration(plan, parts).outcome).toMatchObject({
      outcome: "stayed",
      error: { code: "MIGRATION_PHASE_FAILED", path: `target/${phase}` },
      settled: { source: "runs" },
    });
    expect(decision.decision()?.outcome).toBe("aborted");
    expect(libvirt.state).toBe("running (booted)");
    expect(target.heard.at(-1)).toBe("abort: aborted");
    expect(store.grant.state).toBe("Claimed");
  },
);

test("an unreachable target does not keep the source from continuing", async () => {
  const { target, libvirt, parts } = world();
  for (const method of ["finish", "abort"] as const) target.failing.add(method);
  expect(await driveMigration(plan, parts).outcome).toMatchObject({ settled: { source: "runs" } });
  expect(libvirt.state).toBe("running (booted)");
});

test("a release that cannot be delivered either way leaves the source paused, and ends it once one is", async () => {
  const { libvirt, target, store, parts } = world();
  target.failing.add("release");
  const move = driveMigration(plan, {
    ...parts,
    at: () => {
      store.down = true;
    },
  });
  expect(await move.outcome).toMatchObject({
    outcome: "moved",
    settled: { source: "waits", for: "release" },
  });
  expect(libvirt.state).toBe("paused (migration)");
  expect(libvirt.changes).not.toContain("domainDestroy");
  store.down = false;
  expect(await settleSource(parts)).toMatchObject({ source: "ended" });
  expect(libvirt.state).toBe("shutoff (migrated)");
});

test("an abort that comes first wins over a release with all its replies", async () => {
  const { libvirt, target, parts } = world();
  const move = driveMigration(plan, {
    ...parts,
    at: (seam) => {
      if (seam === "decision.before") move.abort("a person wants it");
    },
  });
  expect(await move.outcome).toMatchObject({ outcome: "stayed", settled: { source: "runs" } });
  expect(target.heard).not.toContain("release: released");
  expect(libvirt.state).toBe("running (booted)");
});

test("an abort after the release is rejected, and the guest moves", async () => {
  const { parts } = world();
  let refused: unknown;
  const move = driveMigration(plan, {
    ...parts,
    at: (seam) => {
      if (seam !== "decision.after") return;
      try {
        move.abort("too late");
      } catch (error) {
        refused = error;
      }
    },
  });
  expect(await move.outcome).toMatchObject({ outcome: "moved" });
  expect(refused).toMatchObject({ code: "MIGRATION_REFUSED", path: "first-decision" });
});

test("a perform that never answers does not block an aborted guest", async () => {
  const long = new FakeLibvirt("running (booted)", {
    domainMigratePerform: () => new Promise(() => {}),
  });
  const { parts } = world({ long });
  const move = driveMigration(plan, {
    ...parts,
    supervise: async (driven) => driven.abort("it stands still"),
  });
  expect(await move.outcome).toMatchObject({
    outcome: "stayed",
    error: { message: "aborted: it stands still" },
    settled: { source: "runs" },
  });
});

test("the release is sent before the grant is swapped, so the guest waits for only two disk writes", async () => {
  const order: string[] = [];
  const { parts, target } = world();
  const { grant } = parts;
  const links = async (): Promise<void> => {
    // A link that is asked for, found, and written to.
    for (let hop = 0; hop < 8; hop++) await Promise.resolve();
    order.push("told");
  };
  const move = driveMigration(plan, {
    ...parts,
    target: Object.assign(target, { release: links }),
    grant: {
      ...grant,
      makeKnown: async (decision) => {
        order.push("swapped");
        return await grant.makeKnown(decision);
      },
    },
  });
  expect(await move.outcome).toMatchObject({ outcome: "moved" });
  expect(order.slice(0, 2)).toEqual(["told", "swapped"]);
});

test("once perform has answered, its supervisor has no say: a libvirtd that dies then aborts nothing", async () => {
  let fail = (_: Error): void => {};
  const lost = new Promise<void>((_, reject) => {
    fail = reject;
  });
  const { parts, decision } = world({
    supervise: async () => await lost,
    at: async (seam) => {
      if (seam !== "perform.after") return;
      fail(new Error("the connection is lost"));
      await lost.catch(() => {});
      await new Promise((resolve) => setImmediate(resolve));
      expect(decision.decision()).toBeUndefined();
    },
  });
  expect(await driveMigration(plan, parts).outcome).toMatchObject({ outcome: "moved" });
});

test("what a target says about its ports changes nothing: only the plan says where the memory goes", async () => {
  const asked: unknown[] = [];
  const { parts, target, libvirt } = world();
  const long = new FakeLibvirt("running (booted)", {
    domainMigratePerform: ({ params }) => {
      asked.push(params?.migrate_uri);
      libvirt.state = "paused (migration)";
      return { cookie: new Uint8Array() };
    },
  });
  const { prepare } = target;
  const lying = async (...args: Parameters<TargetEnd["prepare"]>): Promise<never> =>
    ({ ...(await prepare(...args)), uri: "tcp://attacker:49152", ports: [1, 2] }) as never;
  Object.assign(target, { prepare: lying });
  expect(await driveMigration(plan, { ...parts, long }).outcome).toMatchObject({
    outcome: "moved",
  });
  expect(asked).toEqual(["unix:///out.sock"]);
});

test.each([
  ["the migration itself", true, "runs"],
  ["its user, meanwhile", false, "paused"],
] as const)("a guest that stays and was suspended by %s", async (_, isOurs, expected) => {
  const { libvirt, parts, decision } = world();
  decision.begin({ ...migration, paused: false });
  if (isOurs) decision.noteSuspended();
  libvirt.state = "paused (user)";
  expect(await settleSource(parts)).toMatchObject({ source: expected });
});

test("a migration is driven once, and the next process only settles it", async () => {
  const { parts } = world();
  await driveMigration(plan, parts).outcome;
  expect(() => driveMigration(plan, parts)).toThrow(
    expect.objectContaining({ code: "MIGRATION_REFUSED", path: "begun-here" }),
  );
});

const lives = [
  ["undecided, paused by perform", undefined, "paused (migration)", "runs", "aborted"],
  ["undecided, resumed by libvirtd itself", undefined, "running (booted)", "runs", "aborted"],
  ["aborted, still paused", "aborted", "paused (migration)", "runs", "aborted"],
  ["released, still paused", "released", "paused (migration)", "ended", "released"],
  ["released, already off", "released", "shutoff (migrated)", "ended", "released"],
  ["committed, never switched", "committed", "paused (migration)", "runs", "returned"],
  [
    "committed, in post-copy, target gone",
    "committed",
    "paused (postcopyFailed)",
    "waits",
    "committed",
  ],
] as const;

test.each(lives)("a restarted launcher: %s", async (_, outcome, state, source, expected) => {
  const { libvirt, parts, decision, store } = world();
  decision.begin({ ...migration, paused: false });
  const evidence = { perform: "ok", finish: "ok", sourceRuns: false } as const;
  if (outcome) decision.settle({ outcome, migrationUID, ...evidence });
  if (outcome === "committed") store.grant = { ...store.grant, state: "Committed" } as never;
  libvirt.state = state;
  expect(await settleSource(parts, { clock: realClock })).toMatchObject({ source });
  expect(decision.decision()?.outcome).toBe(expected);
});

test("a restarted launcher does not touch a guest that its user paused", async () => {
  const { libvirt, parts, decision } = world();
  decision.begin({ ...migration, paused: true });
  libvirt.state = "paused (user)";
  expect(await settleSource(parts)).toMatchObject({ source: "paused" });
  expect(libvirt.changes).not.toContain("domainResume");
});

test("with an empty folder and a paused source, a person must look", async () => {
  const { libvirt, parts } = world();
  libvirt.state = "paused (migration)";
  await expect(settleSource(parts)).rejects.toMatchObject({
    code: "MIGRATION_REFUSED",
    path: "begun-here",
    message: expect.stringContaining("find out on which node the guest runs"),
  });
  expect(libvirt.changes).toEqual([]);
});

test("post-copy is committed on disk and in the grant before the switch, and finish does not pause", async () => {
  const { libvirt, target, store, parts } = world();
  target.copy = "paused";
  const seen: string[] = [];
  const switched = new Promise<void>((resolve) => {
    Object.assign(libvirt, { call: watching(libvirt.call, seen, store, resolve) });
  });
  const waiting = new FakeLibvirt("running (booted)", {
    domainMigratePerform: async () => {
      await switched;
      libvirt.state = "paused (postcopy)";
      return { cookie: new Uint8Array() };
    },
  });
  const move = driveMigration(
    { ...plan, flags: [...plan.flags, "postcopy"] },
    { ...parts, long: waiting, supervise: async (driven) => await driven.switchToPostCopy() },
  );
  expect(await move.outcome).toMatchObject({ outcome: "moved", by: "postCopy" });
  expect(seen).toEqual(["Committed"]);
  expect(target.flags).not.toContain("paused");
  expect(target.heard).toContain("finish: committed");
});

function watching(
  call: FakeLibvirt["call"],
  seen: string[],
  store: MemoryGrantStore,
  onSwitch: () => void,
): FakeLibvirt["call"] {
  return (async (...args: Parameters<FakeLibvirt["call"]>) => {
    if (args[0] === "domainMigrateStartPostCopy") {
      seen.push(store.grant.state);
      onSwitch();
      return {};
    }
    return await call(...args);
  }) as FakeLibvirt["call"];
}

test.each([
  ["paused", ["state: committed", "finish: committed", "state: committed"]],
  ["incomplete", ["state: committed", "state: committed"]],
] as const)(
  "if a process ended after the switch, the next one starts a target that is %s, or leaves it alone",
  async (state, heard) => {
    const { libvirt, target, parts, decision, store } = world();
    decision.begin({ ...migration, paused: false });
    decision.settle({ outcome: "committed", migrationUID });
    store.grant = { ...handingOver, state: "Committed" };
    libvirt.state = "paused (postcopy)";
    target.copy = state;
    expect(await settleSource(parts)).toMatchObject({ source: "waits" });
    expect(target.heard).toEqual(heard);
    expect(target.flags).not.toContain("paused");
    expect(libvirt.changes).toEqual([]);
  },
);

test("a switch that cannot be announced does not happen", async () => {
  const { libvirt, store, target, parts } = world();
  target.copy = "paused";
  const move = driveMigration(
    { ...plan, flags: [...plan.flags, "postcopy"] },
    {
      ...parts,
      supervise: async (driven) => {
        store.down = true;
        await expect(driven.switchToPostCopy()).rejects.toMatchObject({ path: "source/switch" });
        store.down = false;
      },
    },
  );
  expect(await move.outcome).toMatchObject({ outcome: "moved", by: "preCopy" });
  expect(libvirt.changes).not.toContain("domainMigrateStartPostCopy");
});

test.each([
  ["has no copy", { leaves: 1 }],
  ["does not answer", { failing: new Set(["state"] as const) }],
])("a guest is not split by a switch to a target that %s", async (_, change) => {
  const { libvirt, target, parts } = world();
  Object.assign(target, { copy: "paused" }, change);
  const move = driveMigration(
    { ...plan, flags: [...plan.flags, "postcopy"] },
    {
      ...parts,
      supervise: async (driven) =>
        await expect(driven.switchToPostCopy()).rejects.toMatchObject({ path: "source/switch" }),
    },
  );
  expect(await move.outcome).toMatchObject({ outcome: "moved", by: "preCopy" });
  expect(libvirt.changes).not.toContain("domainMigrateStartPostCopy");
});

test.each([
  ["before it began", true],
  ["meanwhile", false],
])(
  "a guest that its user paused %s does not switch to post-copy: pre-copy completes",
  async (_, paused) => {
    const { libvirt, target, parts, decision, store } = world({ paused });
    target.copy = "paused";
    const long = new FakeLibvirt("running (booted)", {
      domainMigratePerform: () => ({ cookie: new Uint8Array() }),
    });
    const move = driveMigration(
      { ...plan, flags: [...plan.flags, "postcopy"] },
      {
        ...{ ...parts, long },
        supervise: async (driven) => {
          libvirt.state = "paused (user)";
          await expect(driven.switchToPostCopy()).rejects.toMatchObject({
            ...{ code: "MIGRATION_REFUSED", path: "source/switch" },
            message: expect.stringContaining("paused (user) and dirties no memory"),
          });
          expect(decision.decision()).toBeUndefined();
          expect(store.grant.state).toBe("HandingOver");
        },
      },
    );
    expect(await move.outcome).toMatchObject({ outcome: "moved", by: "preCopy" });
    expect(libvirt.changes).not.toContain("domainMigrateStartPostCopy");
    expect(target.flags).toContain("paused");
  },
);

test("if its user pauses the guest between the commit and the switch, the source goes back, and the guest stays paused", async () => {
  const { libvirt, target, parts, decision, store } = world();
  target.copy = "paused";
  const long = new FakeLibvirt("running (booted)", {
    domainMigratePerform: () => new Promise(() => {}),
  });
  const move = driveMigration(
    { ...plan, flags: [...plan.flags, "postcopy"] },
    {
      ...{ ...parts, long },
      supervise: async (driven) => await driven.switchToPostCopy(),
      at: (seam) => {
        if (seam === "switch.before") libvirt.state = "paused (user)";
      },
    },
  );
  expect(await move.outcome).toMatchObject({
    ...{ outcome: "stayed", error: { path: "source/switch" }, settled: { source: "paused" } },
  });
  expect(decision.decision()?.outcome).toBe("returned");
  expect(store.grant.state).toBe("Claimed");
  expect(libvirt.changes).not.toContain("domainMigrateStartPostCopy");
  expect(libvirt.changes).not.toContain("domainResume");
});

test("if the target is lost between the commit and the switch, the source goes back and does not stay committed forever", async () => {
  const { libvirt, target, parts, decision, store } = world();
  Object.assign(target, { copy: "paused", leaves: 2 });
  // The link is dead, too: perform would never answer.
  const long = new FakeLibvirt("running (booted)", {
    domainMigratePerform: () => new Promise(() => {}),
  });
  const move = driveMigration(
    { ...plan, flags: [...plan.flags, "postcopy"] },
    { ...parts, long, supervise: async (driven) => await driven.switchToPostCopy() },
  );
  expect(await move.outcome).toMatchObject({
    ...{ outcome: "stayed", error: { path: "source/switch" }, settled: { source: "runs" } },
  });
  expect(decision.decision()?.outcome).toBe("returned");
  expect(store.grant.state).toBe("Claimed");
  expect(libvirt.changes).not.toContain("domainMigrateStartPostCopy");
});

test("a copy that completes between the commit and the switch moves by pre-copy, and does not go back", async () => {
  const { libvirt, target, parts, decision, store } = world();
  target.copy = "paused";
  let complete = (): void => {};
  const completed = new Promise<void>((resolve) => {
    complete = resolve;
  });
  const long = new FakeLibvirt("running (booted)", {
    domainMigratePerform: async () => {
      await completed;
      return { cookie: new Uint8Array() };
    },
    domainMigrateConfirm: (args) => libvirt.call("domainMigrateConfirm", args),
  });
  const move = driveMigration(
    { ...plan, flags: [...plan.flags, "postcopy"] },
    {
      ...{ ...parts, long },
      supervise: async (driven) => {
        const refused = { code: "MIGRATION_REFUSED", path: "source/switch" };
        await expect(driven.switchToPostCopy()).rejects.toMatchObject(refused);
        complete();
      },
      at: (seam) => {
        if (seam === "switch.before") libvirt.state = "paused (migration)";
      },
    },
  );
  expect(await move.outcome).toMatchObject({ outcome: "moved", by: "preCopy" });
  expect(decision.decision()?.outcome).toBe("released");
  expect(store.grant.state).toBe("Released");
  expect(target.flags).toContain("paused");
  expect(libvirt.changes).not.toContain("domainMigrateStartPostCopy");
});

test("of two requests to switch, one that goes back keeps the other from switching", async () => {
  const { libvirt, target, parts, decision, store } = world();
  target.copy = "paused";
  const long = new FakeLibvirt("running (booted)", {
    domainMigratePerform: () => new Promise(() => {}),
  });
  // The first request loses the target; the second one is told that it is there, but later.
  const replies: ((state: TargetState) => void)[] = [];
  let isCommitted = false;
  Object.assign(target, {
    state: async () =>
      isCommitted ? await new Promise((resolve) => replies.push(resolve)) : "paused",
  });
  const move = driveMigration(
    { ...plan, flags: [...plan.flags, "postcopy"] },
    {
      ...{ ...parts, long },
      supervise: async (driven) => {
        const both = [driven.switchToPostCopy(), driven.switchToPostCopy()];
        const settled = Promise.allSettled(both);
        await expect.poll(() => replies.length).toBe(2);
        replies[0]?.("absent");
        await expect.poll(() => decision.decision()?.outcome).toBe("returned");
        replies[1]?.("paused");
        expect(await settled).toMatchObject([
          { status: "rejected", reason: { path: "source/switch" } },
          {
            status: "rejected",
            reason: { path: "source/switch", cause: { path: "commit-before-switch" } },
          },
        ]);
      },
      at: (seam) => {
        if (seam === "switch.before") isCommitted = true;
      },
    },
  );
  expect(await move.outcome).toMatchObject({ outcome: "stayed", settled: { source: "runs" } });
  expect(store.grant.state).toBe("Claimed");
  expect(libvirt.changes).not.toContain("domainMigrateStartPostCopy");
});

test("if confirm finds no job, the source is ended directly", async () => {
  const libvirt: FakeLibvirt = new FakeLibvirt("running (booted)", {
    domainMigrateConfirm: () => {
      throw remote(55, "is not being migrated");
    },
    domainDestroy: () => {
      libvirt.state = "shutoff (migrated)";
      return {};
    },
  });
  const long = performs(libvirt);
  const { parts } = world({ libvirt, long });
  expect(await driveMigration(plan, parts).outcome).toMatchObject({ settled: { source: "ended" } });
  expect(libvirt.changes.at(-1)).toBe("domainDestroy");
});
