import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, realClock } from "@virtkit/api/clock";
import type { Handover, Holder } from "@virtkit/api/grant";
import { parseDomain } from "@virtkit/converter";
import type { WantedGuest } from "@virtkit/domain-manager";
import { expect, onTestFinished, test } from "vitest";
import type { LauncherClient } from "../client/launcher-client.ts";
import { servedGuest } from "../testing/channel-fixture.ts";
import { followAsAgent } from "../testing/follow-as-agent.ts";
import { MemoryGrantStore } from "../testing/memory-grant-store.ts";
import { MovingLibvirt } from "../testing/moving-libvirt.ts";
import { LauncherMigrations } from "./launcher-migrations.ts";
import type { MigrateRequest, MigrationReport } from "./migration-verbs.ts";

const migration = { migrationUID: "m-1", vmiUID: "vmi-1", epoch: 1, seq: 3 };
const { migrationUID } = migration;
const vmi: WantedGuest["vmi"] = {
  metadata: { name: "demo", namespace: "default", uid: "vmi-1" },
  spec: { domain: { devices: {} } },
  status: { migrationState: { migrationUid: "m-1" } },
};
const options: MigrateRequest["options"] = {
  ...{ bandwidth: "0", progressTimeout: 150, completionTimeoutPerGiB: 150, maxDowntimeMs: 300 },
  ...{ unsafe: false, allowAutoConverge: false, allowPostCopy: false },
  allowWorkloadDisruption: false,
};
const [from, to] = ["a", "b"].map(
  (name): Holder => ({
    ...{ podUID: `pod-${name}`, containerID: name, nonce: name },
    ...{ node: name, machineID: name, bootID: name },
  }),
) as [Holder, Holder];
const handingOver: Handover = { ...migration, state: "HandingOver", holder: from, target: to };

interface Side {
  readonly client: LauncherClient;
  readonly libvirt: MovingLibvirt;
  readonly reports: MigrationReport[];
  /** What it waits for. */
  readonly timers: ReadonlySet<unknown>;
}

/** A launcher that is served over its channel, as for a node agent. */
async function side(libvirt: MovingLibvirt): Promise<Side> {
  const directory = mkdtempSync(join(tmpdir(), "virtkit-migrations-"));
  const timers = new Set<unknown>();
  const clock: Clock = {
    now: () => realClock.now(),
    setTimeout(callback, milliseconds) {
      const fire = (): void => {
        timers.delete(timer);
        callback();
      };
      const timer = realClock.setTimeout(fire, milliseconds);
      timers.add(timer);
      return timer;
    },
    clearTimeout(timer) {
      timers.delete(timer);
      realClock.clearTimeout(timer);
    },
  };
  const migrations = new LauncherMigrations({
    ...{ vmiUID: "vmi-1", domain: "default_demo", directory, clock },
    connect: async () => await libvirt.connect(),
    prepareGuest: async () => ({
      domain: parseDomain(libvirt.xml),
      complete: async () => {},
    }),
  });
  onTestFinished(async () => {
    await migrations[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true });
  });
  const { client } = await servedGuest({ migrations });
  return { client, libvirt, reports: [], timers };
}

/** The node agent of the target claims for it. */
const following = { migrationUID, holder: to };

interface Both {
  readonly source: Side;
  readonly target: Side;
  readonly store: MemoryGrantStore;
  start(): Promise<void>;
}

async function both(): Promise<Both> {
  const [source, target] = await Promise.all([
    side(new MovingLibvirt("running")),
    side(new MovingLibvirt("shutoff")),
  ]);
  const sockets = mkdtempSync(join(tmpdir(), "virtkit-sockets-"));
  onTestFinished(() => rmSync(sockets, { recursive: true }));
  const [s, t] = [join(sockets, "s"), join(sockets, "t")];
  const start = async (): Promise<void> => {
    await target.client.receiveMigration({
      ...{ migration, holder: to, domain: "5d307ca9-b3ef-428c-8861-06e72d69f223" },
      guest: { vmi, context: {} as WantedGuest["context"] },
      ...{ listen: "unix:///in", serve: t, peer: s },
    });
    await source.client.migrate({
      ...{ migration, holder: from, vmi, options },
      ...{ serve: s, peer: t },
    });
  };
  return { source, target, store: new MemoryGrantStore(handingOver), start };
}

test("a node agent on each side drives a migration by verbs alone", async () => {
  const { source, target, store, start } = await both();
  await start();
  const ends = await Promise.all([
    followAsAgent(source, store, following),
    followAsAgent(target, store, following),
  ]);
  expect(ends).toMatchObject([
    { outcome: "moved", settled: "ended" },
    { outcome: "runs", settled: "runs" },
  ]);
  expect([source.libvirt.state, target.libvirt.state]).toEqual(["shutoff", "running"]);
  expect(store.grant).toMatchObject({ state: "Claimed", epoch: 2, holder: to });
  const revisions = source.reports.map(({ revision }) => revision);
  expect(revisions).toEqual(revisions.toSorted((a, b) => a - b));
  expect(await source.client.migrationDecision({ migration })).toEqual({
    migrationUID,
    outcome: "released",
  });
});

test("a target whose guest has arrived waits for nothing more", async () => {
  const { source, target, store, start } = await both();
  await start();
  await Promise.all([
    followAsAgent(source, store, following),
    followAsAgent(target, store, following),
  ]);
  await expect.poll(() => target.timers.size).toBe(0);
});

test("ends a source whose libvirtd goes away after the release once it is back", async () => {
  const { source, target, store, start } = await both();
  await start();
  source.libvirt.failing = 3;
  const ends = await Promise.all([
    followAsAgent(source, store, following),
    followAsAgent(target, store, following),
  ]);
  expect(ends).toMatchObject([{ outcome: "moved", settled: "ended" }, { settled: "runs" }]);
  expect([source.libvirt.state, target.libvirt.state]).toEqual(["shutoff", "running"]);
});

test("a cancelled migration stays, and the target ends", async () => {
  const { source, target, store, start } = await both();
  source.libvirt.performing = new Promise(() => {});
  await start();
  await expect
    .poll(async () => (await source.client.followMigration({ migrationUID })).step)
    .toBe("perform.before");
  await source.client.cancelMigration({ migrationUID, reason: "a person" });
  // Its perform never answers: what counts is what is on disk, at once.
  expect(await source.client.migrationDecision({ migration })).toMatchObject({
    outcome: "aborted",
  });
  await expect(source.client.switchToPostCopy({ migrationUID })).rejects.toThrow(
    /was already aborted/,
  );
  expect(target.libvirt.state).not.toBe("running");
  expect(store.grant.state).toBe("HandingOver");
});

test("accepts a release that the agent read in the grant, but not one of another epoch", async () => {
  const { target, store, start } = await both();
  await start();
  const wrong = { ...migration, epoch: 2 };
  const refused = target.client.releaseMigration({ migration: wrong });
  await expect(refused).rejects.toThrow(/epoch is 2/);
  await target.client.releaseMigration({ migration });
  expect(await followAsAgent(target, store, following)).toMatchObject({ outcome: "runs" });
});

test("rejects another VMI, a second migration and an unknown one", async () => {
  const { source, target, start } = await both();
  source.libvirt.performing = new Promise(() => {});
  await start();
  const request = { holder: from, vmi, options, serve: "/s", peer: "/t" };
  const other = { ...migration, vmiUID: "vmi-2" };
  await expect(source.client.migrate({ ...request, migration: other })).rejects.toMatchObject({
    path: "migration.vmiUID",
  });
  const next = { ...migration, migrationUID: "m-2" };
  await expect(source.client.migrate({ ...request, migration: next })).rejects.toMatchObject({
    code: "LAUNCHER_BUSY",
  });
  for (const asked of [
    source.client.followMigration({ migrationUID: "m-9" }),
    source.client.releaseMigration({ migration }),
    target.client.switchToPostCopy({ migrationUID }),
  ]) {
    await expect(asked).rejects.toMatchObject({ code: "LAUNCHER_ARGUMENT", path: "migrationUID" });
  }
});

test("a migration that is cancelled before it begins never begins", async () => {
  const { source, start } = await both();
  await source.client.cancelMigration({ migrationUID });
  await expect(start()).rejects.toThrow(/was aborted before it began/);
  expect(source.libvirt.state).toBe("running");
});

test("a launcher whose guest does not move says so", async () => {
  const { client } = await servedGuest();
  await expect(client.followMigration({ migrationUID })).rejects.toMatchObject({
    code: "LAUNCHER_VERB",
  });
});
