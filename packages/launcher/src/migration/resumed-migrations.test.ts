import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DecisionFile } from "@virtkit/migration/handover";
import { ReceiveFile } from "@virtkit/migration/target";
import { expect, test } from "vitest";
import { followAsAgent } from "../testing/follow-as-agent.ts";
import {
  type Both,
  both,
  following,
  from,
  migration,
  migrationUID,
  options,
  type Side,
  vmi,
} from "../testing/moving-pair.ts";
import { PartFiles } from "./part-file.ts";

/** Both sides of a migration whose *perform* never ends. */
async function performing(): Promise<Both> {
  const pair = await both();
  pair.source.libvirt.performing = new Promise(() => {});
  await pair.start();
  const step = async (): Promise<string> =>
    (await pair.source.client.followMigration({ migrationUID })).step;
  await expect.poll(step).toBe("perform.before");
  return pair;
}

/** As far as both libvirts are after *finish*. */
function finished({ source, target }: Both): void {
  source.libvirt.state = "paused";
  target.libvirt.state = "paused";
}

const decision = ({ directory }: Side): unknown =>
  new DecisionFile(directory, migrationUID).decision()?.outcome;

test("a source that restarts undecided aborts, and continues", async () => {
  const pair = await performing();
  pair.source.libvirt.state = "paused";
  const source = await pair.source.restart();
  const [sourceEnd, targetEnd] = await Promise.all([
    followAsAgent(source, pair.store, following),
    followAsAgent(pair.target, pair.store, following),
  ]);
  expect(sourceEnd).toMatchObject({
    ...{ outcome: "stayed", settled: "runs", decision: "aborted" },
    why: expect.stringContaining("restarted"),
  });
  expect(targetEnd).toMatchObject({ settled: "ended" });
  expect([source.libvirt.state, pair.target.libvirt.state]).toEqual(["running", "shutoff"]);
  expect(pair.store.grant).toMatchObject({ state: "Claimed", epoch: 1, holder: from });
});

test("a source that restarts after its release ends, and the target runs", async () => {
  const pair = await performing();
  finished(pair);
  new DecisionFile(pair.source.directory, migrationUID).settle({
    ...{ outcome: "released", migrationUID, perform: "ok", finish: "ok" },
  });
  const source = await pair.source.restart();
  expect(await source.client.followMigration({ migrationUID })).toMatchObject({
    ...{ role: "source", decision: "released" },
  });
  const ends = await Promise.all([
    followAsAgent(source, pair.store, following),
    followAsAgent(pair.target, pair.store, following),
  ]);
  expect(ends).toMatchObject([{ outcome: "moved", settled: "ended" }, { settled: "runs" }]);
  expect([source.libvirt.state, pair.target.libvirt.state]).toEqual(["shutoff", "running"]);
  expect(pair.store.grant).toMatchObject({ state: "Claimed", epoch: 2 });
});

test("a source that restarts can be cancelled before its libvirt answers, and says so after a release", async () => {
  const pair = await performing();
  pair.source.libvirt.connecting = new Promise(() => {});
  const source = await pair.source.restart();
  await source.client.cancelMigration({ migrationUID });
  expect(decision(source)).toBe("aborted");
  const other = await performing();
  finished(other);
  new DecisionFile(other.source.directory, migrationUID).settle({
    ...{ outcome: "released", migrationUID, perform: "ok", finish: "ok" },
  });
  const released = await other.source.restart();
  await expect(released.client.cancelMigration({ migrationUID })).rejects.toThrow(/released/);
});

test("a target that restarts undecided keeps its copy paused until its source has decided", async () => {
  const pair = await performing();
  finished(pair);
  const target = await pair.target.restart();
  expect(await target.client.followMigration({ migrationUID })).toMatchObject({ role: "target" });
  const followed = followAsAgent(target, pair.store, following);
  await expect.poll(() => target.reports.some(({ asksGrant }) => asksGrant)).toBe(true);
  expect(target.libvirt.state).toBe("paused");
  // What its source decides arrives on the socket that the earlier process served.
  const source = await pair.source.restart();
  await followAsAgent(source, pair.store, following);
  expect(await followed).toMatchObject({ settled: "ended" });
  expect([source.libvirt.state, target.libvirt.state]).toEqual(["running", "shutoff"]);
});

test("a target that restarts with a release runs the guest", async () => {
  const pair = await performing();
  finished(pair);
  new ReceiveFile(pair.target.directory, migrationUID).hear("released");
  const target = await pair.target.restart();
  pair.store.grant = { ...pair.store.grant, state: "Released" } as typeof pair.store.grant;
  expect(await followAsAgent(target, pair.store, following)).toMatchObject({ settled: "runs" });
  expect(target.libvirt.state).toBe("running");
  expect(pair.store.grant).toMatchObject({ state: "Claimed", epoch: 2 });
});

test("a launcher that restarts goes on to report how its migration ended, and begins another one", async () => {
  const { source, target, store, start } = await both();
  await start();
  const ends = await Promise.all([
    followAsAgent(source, store, following),
    followAsAgent(target, store, following),
  ]);
  const again = await Promise.all(
    [source, target].map(
      async (side) => await (await side.restart()).client.followMigration({ migrationUID }),
    ),
  );
  expect(again).toEqual(ends.map(({ progress: _, ...report }) => report));
  const moved = await target.restart();
  const next = { ...migration, migrationUID: "m-2", seq: 9 };
  const request = { holder: from, vmi, options, serve: "/nowhere/s", peer: "/nowhere/t" };
  // It is refused for its sockets only.
  await expect(moved.client.migrate({ ...request, migration: next })).rejects.toMatchObject({
    message: expect.not.stringContaining("in progress"),
  });
});

test("a migration that was asked for, and had not begun, is unknown after a restart", async () => {
  const { target } = await both();
  const place = { domain: "5d307ca9", peer: "/s", serve: "/t", holder: following.holder };
  new PartFiles(target.directory).begin({ role: "target", migration, ...place });
  const { client } = await target.restart();
  await expect(client.followMigration({ migrationUID })).rejects.toMatchObject({
    ...{ code: "LAUNCHER_ARGUMENT", path: "migrationUID" },
  });
});

test("a launcher that cannot read what it began says so, and begins nothing else", async () => {
  const pair = await performing();
  writeFileSync(join(pair.target.directory, migrationUID, "part.json"), "{");
  const target = await pair.target.restart();
  const failed = { code: "LAUNCHER_FAILED", path: "resume" };
  await expect(target.client.followMigration({ migrationUID })).rejects.toMatchObject(failed);
  const request = { holder: from, vmi, options, serve: "/s", peer: "/t", migration };
  await expect(target.client.migrate(request)).rejects.toMatchObject(failed);
  await expect(target.client.cancelMigration({ migrationUID })).rejects.toMatchObject(failed);
});
