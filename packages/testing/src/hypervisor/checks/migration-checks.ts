import assert from "node:assert/strict";
import {
  assertRefused,
  CheckedMigration,
  type CheckedMove,
  type MigrationCheck,
  type MigrationCheckContext,
  slowly,
  untilCopying,
} from "./migration-check.ts";

/** What every pair of launchers that move a guest must do, simulated or real. */
export const migrationChecks: readonly MigrationCheck[] = [
  {
    name: "a guest moves: the source ends, the target runs, and each step is reported in order",
    async check(context) {
      const move = new CheckedMigration(context);
      await move.begin();
      const { ends, reports } = await move.follow();
      assertEnds(ends, ["moved", "ended"], ["runs", "runs"]);
      await move.assertOn("target");
      const { migration } = move;
      const { migrationUID } = migration;
      const decision = await context.source.verbs.migrationDecision({ migration });
      assert.deepEqual(decision, { migrationUID, outcome: "released" });
      for (const role of ["source", "target"]) {
        const revisions = reports.filter((each) => each.role === role).map((each) => each.revision);
        assert.deepEqual(
          revisions,
          revisions.toSorted((one, other) => one - other),
        );
      }
      assert.ok(reports.some(({ claims }) => claims === "released"));
      assert.ok(reports.every(({ decision: made }) => made === undefined || made === "released"));
    },
  },
  {
    name: "the source reports how far its copy is",
    async check(context) {
      const move = new CheckedMigration(context);
      await move.begin({ bandwidth: "48Mi" });
      const { ends, reports } = await move.follow();
      assertEnds(ends, ["moved", "ended"], ["runs", "runs"]);
      const told = reports.flatMap(({ progress }) => (progress ? [progress] : []));
      const sent = told.map(({ transferred }) => transferred);
      assert.ok(sent.length > 1, "it was reported at most once");
      assert.deepEqual(
        sent,
        sent.toSorted((one, other) => one - other),
      );
      const last = told.at(-1);
      assert.ok((last?.total ?? 0) >= 200 * 2 ** 20, `total is ${last?.total}`);
      assert.ok((last?.iteration ?? 0) >= 1, `iteration is ${last?.iteration}`);
      assert.ok(told.some(({ phase, mode }) => phase === "memory" && mode === "PreCopy"));
    },
  },
  {
    name: "a guest that its user has paused moves, and stays paused",
    async check(context) {
      await context.pause(true);
      const move = new CheckedMigration(context);
      await move.begin();
      const { ends } = await move.follow();
      assertEnds(ends, ["moved", "ended"], ["runs", "runs"]);
      await move.assertOn("target", "paused");
      await context.pause(false);
      await move.assertOn("target");
    },
  },
  {
    name: "a cancelled migration leaves the guest where it is: decided at once, the target ends, the grant goes back",
    async check(context) {
      const { source } = context;
      const move = new CheckedMigration(context);
      const { migration } = move;
      const { migrationUID } = migration;
      await move.begin(slowly);
      const following = move.follow();
      await untilCopying(context, migrationUID);
      await source.verbs.cancelMigration({ migrationUID, reason: "a person" });
      const decision = await source.verbs.migrationDecision({ migration });
      assert.deepEqual(decision, { migrationUID, outcome: "aborted" });
      const late = source.verbs.switchToPostCopy({ migrationUID });
      assert.match((await assertRefused(late, "MIGRATION_REFUSED")).message, /was already aborted/);
      const { ends } = await following;
      assertEnds(ends, ["stayed", "runs"], ["ended", "ended"]);
      assert.match(ends[0].why ?? "", /a person/);
      await move.assertOn("source");
    },
  },
  {
    name: "a stream that breaks in pre-copy leaves the guest where it is",
    async check(context) {
      const move = new CheckedMigration(context);
      await move.begin(slowly);
      const following = move.follow();
      await untilCopying(context, move.migration.migrationUID);
      await context.breakStream();
      const { ends } = await following;
      assertEnds(ends, ["stayed", "runs"], ["ended", "ended"]);
      await move.assertOn("source");
    },
  },
  {
    name: "a guest that writes faster than its memory is sent stays where it is, unharmed",
    async check(context) {
      await context.dirty(true);
      try {
        const move = new CheckedMigration(context);
        await move.begin({ bandwidth: "16Mi", progressTimeout: 3 });
        const { ends, reports } = await move.follow();
        assertEnds(ends, ["stayed", "runs"], ["ended", "ended"]);
        assert.match(ends[0].why ?? "", /has not decreased/);
        const rounds = reports.map(({ progress }) => progress?.iteration ?? 0);
        assert.ok(Math.max(...rounds) > 2, "it was given up before its rounds could show it");
        await move.assertOn("source");
      } finally {
        await context.dirty(false);
      }
    },
  },
  {
    name: "with auto-converge such a guest is slowed down step by step, until it moves",
    async check(context) {
      await context.dirty(true);
      const move = new CheckedMigration(context);
      const { migrationUID } = move.migration;
      await move.begin({ bandwidth: "16Mi", allowAutoConverge: true });
      const following = move.follow();
      await context.until(async () => {
        const { progress } = await context.source.verbs.followMigration({ migrationUID });
        return (progress?.throttlePercent ?? 0) > 0;
      });
      // How slow a guest must be to move depends on its host; that it is slowed down does not.
      await context.dirty(false);
      const { ends, reports } = await following;
      assertEnds(ends, ["moved", "ended"], ["runs", "runs"]);
      const steps = reports
        .map(({ progress }) => progress?.throttlePercent ?? 0)
        .filter((percent) => percent > 0);
      assert.equal(steps[0], 20);
      assert.deepEqual(
        steps,
        steps.toSorted((one, other) => one - other),
      );
      await move.assertOn("target");
    },
  },
  {
    name: "the reply to finish is lost: the source continues, and the target has never run",
    async check(context) {
      const move = new CheckedMigration(context);
      context.loseReply("finish");
      await move.begin();
      const { ends, reports } = await move.follow();
      assertEnds(ends, ["stayed", "runs"], ["ended", "ended"]);
      assert.ok(reports.some(({ role, step }) => role === "target" && step === "finish.after"));
      assert.ok(reports.every(({ step }) => step !== "resume.before"));
      await move.assertOn("source");
    },
  },
  {
    name: "the reply to a release is lost: the grant shows the release, and the guest has moved",
    async check(context) {
      const move = new CheckedMigration(context);
      context.loseReply("release");
      await move.begin();
      assertEnds((await move.follow()).ends, ["moved", "ended"], ["runs", "runs"]);
      await move.assertOn("target");
    },
  },
  {
    name: "post-copy: committed before the switch, and complete at the target in the end",
    async check(context) {
      const { source } = context;
      const move = new CheckedMigration(context);
      const { migrationUID } = move.migration;
      await move.begin({ ...slowly, allowPostCopy: true, allowWorkloadDisruption: true });
      const following = move.follow();
      await untilCopying(context, migrationUID);
      await source.verbs.switchToPostCopy({ migrationUID });
      const late = source.verbs.cancelMigration({ migrationUID });
      await assertRefused(late, "MIGRATION_REFUSED");
      const { ends, reports } = await following;
      assertEnds(ends, ["moved", "ended"], ["runs", "runs"]);
      assert.ok(reports.some(({ decision }) => decision === "committed"));
      assert.ok(reports.some(({ claims }) => claims === "postCopyComplete"));
      await move.assertOn("target");
    },
  },
  {
    name: "another migration, an unknown one, and what belongs to another handover are refused",
    async check(context) {
      const { source, target } = context;
      const move = new CheckedMigration(context);
      const { migration } = move;
      const { migrationUID } = migration;
      await move.begin(slowly);
      await assertRefused(move.begin(slowly), "LAUNCHER_BUSY");
      for (const call of [
        source.verbs.cancelMigration({ migrationUID: "m-unknown" }),
        source.verbs.followMigration({ migrationUID: "m-unknown" }),
        source.verbs.releaseMigration({ migration }),
        target.verbs.switchToPostCopy({ migrationUID }),
      ]) {
        await assertRefused(call, "LAUNCHER_ARGUMENT");
      }
      const wrong = { ...migration, epoch: migration.epoch + 1 };
      await assertRefused(target.verbs.releaseMigration({ migration: wrong }), "MIGRATION_REFUSED");
      const following = move.follow();
      await untilCopying(context, migrationUID);
      await source.verbs.cancelMigration({ migrationUID });
      assertEnds((await following).ends, ["stayed", "runs"], ["ended", "ended"]);
      await move.assertOn("source");
    },
  },
  {
    name: "a broken post-copy waits, with nothing destroyed and no way back, and is recovered once that is possible",
    async check(context) {
      const { source, target, until } = context;
      const move = new CheckedMigration(context);
      const { migrationUID } = move.migration;
      const told = async () => await source.verbs.followMigration({ migrationUID });
      const assertNothingLost = async (): Promise<void> => {
        assert.equal((await told()).settled, undefined);
        // The target's vCPUs are not stopped; they wait for memory that does not come.
        assert.deepEqual([await source.state(), await target.state()], ["paused", "running"]);
        assert.equal(move.grant.state, "Committed");
      };
      context.slowStream(true);
      await move.begin({ ...slowly, allowPostCopy: true, allowWorkloadDisruption: true });
      const following = move.follow();
      try {
        await untilCopying(context, migrationUID);
        await source.verbs.switchToPostCopy({ migrationUID });
        await until(async () => (await target.state()) === "running");
        await context.untilAlive();
        await context.blockStream(true);
        await until(async () => (await told()).outcome === "broken");
        await until(async () => /recover the post-copy/.test((await told()).why ?? ""));
        const late = source.verbs.cancelMigration({ migrationUID });
        await assertRefused(late, "MIGRATION_REFUSED");
        await assertNothingLost();
        await until(async () => /the last attempt failed/.test((await told()).why ?? ""));
        await assertNothingLost();
        context.slowStream(false);
        await context.blockStream(false);
        const { ends } = await following;
        assertEnds(ends, ["moved", "ended"], ["runs", "runs"]);
        assert.equal(ends[0].why, undefined);
        await move.assertOn("target");
      } finally {
        move.stopFollowing();
        // It says that it was stopped, if it was not over.
        await following.catch(() => {});
      }
    },
  },
] satisfies readonly { check(context: MigrationCheckContext): Promise<void>; name: string }[];

type End = readonly [outcome: string, settled: string];

function assertEnds(ends: CheckedMove["ends"], source: End, target: End): void {
  const found = ends.map(({ outcome, settled }) => [outcome, settled]);
  assert.deepEqual(found, [source, target], JSON.stringify(ends));
}
