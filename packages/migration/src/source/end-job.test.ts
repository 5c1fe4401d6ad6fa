import { ManualClock } from "@virtkit/api/clock";
import { afterEach, expect, test } from "vitest";
import { DecisionFile, type TargetEnd } from "../handover/index.ts";
import { type Answers, FakeLibvirt, remote } from "../testing/fake-libvirt.ts";
import {
  MemoryGrantStore,
  migration,
  sourceHolder,
  temporaryDirectory,
} from "../testing/handover-fixture.ts";
import { handoverGrant } from "./drive-grant.ts";
import type { SourceParts } from "./drive-parts.ts";
import { endJob } from "./end-job.ts";

const directory = temporaryDirectory(afterEach);

function source(libvirt: FakeLibvirt): SourceParts {
  return {
    ...{ libvirt, migration, target: {} as TargetEnd, patience: 50 },
    domain: "5d307ca9-b3ef-428c-8861-06e72d69f223",
    decision: new DecisionFile(directory(), migration.migrationUID),
    grant: handoverGrant(new MemoryGrantStore(), sourceHolder),
  };
}

/** A libvirt whose job goes through these types, one a look, and keeps the last. */
function withJob(
  state: FakeLibvirt["state"],
  types: readonly string[],
  more: Answers = {},
): FakeLibvirt {
  const left = [...types];
  const next = (): string => (left.length > 1 ? left.shift() : left[0]) ?? "none";
  return new FakeLibvirt(state, {
    domainGetJobStats: () => ({ type: next(), params: {} }),
    ...more,
  });
}

/** Ends the job while time passes as fast as it is waited for. */
async function ended(libvirt: FakeLibvirt, isPerforming?: boolean): Promise<readonly string[]> {
  const clock = new ManualClock();
  const ending = endJob(source(libvirt), { isPerforming, clock });
  ending.catch(() => {});
  await clock.pass(10_000);
  await ending;
  return libvirt.changes;
}

test("a running perform is stopped and ends the job itself, because a confirm would crash libvirtd", async () => {
  const types = ["unbounded", "unbounded", "cancelled", "none"];
  expect(await ended(withJob("running (booted)", types))).toEqual(["domainAbortJob"]);
});

test("waits for a perform that is already failing", async () => {
  expect(await ended(withJob("paused (migration)", ["failed", "failed", "none"]))).toEqual([]);
});

test("a perform that was never called, or has answered, is confirmed as cancelled at once", async () => {
  const libvirt = withJob("paused (migration)", ["unbounded"]);
  expect(await ended(libvirt, false)).toEqual(["domainMigrateConfirm"]);
  expect(libvirt.calls).not.toContain("domainGetJobStats");
});

test("a perform whose answer was lost stays complete after the abort, and is confirmed as cancelled", async () => {
  const libvirt = withJob("paused (migration)", ["unbounded"]);
  expect(await ended(libvirt)).toEqual(["domainAbortJob", "domainMigrateConfirm"]);
});

test("a job that continues despite the abort is an error, and nothing is confirmed", async () => {
  const libvirt = withJob("running (booted)", ["unbounded"]);
  await expect(ended(libvirt)).rejects.toMatchObject({
    code: "MIGRATION_PHASE_FAILED",
    path: "source/perform",
  });
  expect(libvirt.changes).toEqual(["domainAbortJob"]);
});

test.each([true, false])(
  "a guest that has switched to post-copy is left alone (perform in progress: %s)",
  async (isPerforming) => {
    expect(await ended(withJob("paused (postcopy)", ["unbounded"]), isPerforming)).toEqual([]);
  },
);

test("a guest that has ended has no job, whatever libvirt rejects", async () => {
  expect(await ended(withJob("absent", ["unbounded"]))).toEqual([]);
  const refused = {
    domainMigrateConfirm: () => {
      throw remote(55, "domain is not being migrated");
    },
  };
  const libvirt = withJob("running (booted)", ["none"], refused);
  expect(await ended(libvirt, false)).toEqual(["domainMigrateConfirm"]);
});

test("a libvirt that does not answer is an error, because the state of its job is unknown", async () => {
  await expect(ended(withJob("dead", ["none"]))).rejects.toMatchObject({ code: "LIBVIRT_CLOSED" });
});
