import { expect, test } from "vitest";
import { servedGuest } from "../testing/channel-fixture.ts";
import { followAsAgent } from "../testing/follow-as-agent.ts";
import {
  both,
  following,
  from,
  migration,
  migrationUID,
  options,
  to,
  vmi,
} from "../testing/moving-pair.ts";

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
