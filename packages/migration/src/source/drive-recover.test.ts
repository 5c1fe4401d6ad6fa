import { afterEach, expect, test } from "vitest";
import {
  DecisionFile,
  type PrepareRequest,
  type TargetEnd,
  type TargetState,
} from "../handover/index.ts";
import { FakeLibvirt } from "../testing/fake-libvirt.ts";
import {
  handingOver,
  MemoryGrantStore,
  migration,
  sourceHolder,
  temporaryDirectory,
} from "../testing/handover-fixture.ts";
import { handoverGrant } from "./drive-grant.ts";
import { recoverPostCopy } from "./drive-recover.ts";

const directory = temporaryDirectory(afterEach);
const { migrationUID } = migration;
const never = (): Promise<never> => new Promise(() => {});

interface Given {
  readonly state?: FakeLibvirt["state"];
  /** What QEMU says of its stream. */
  readonly stream?: string;
  readonly target?: () => TargetState;
}

/** A source that is committed, and what is asked of both sides when somebody wants to recover it. */
function given({
  state = "paused (postcopyFailed)",
  stream = "postcopy-paused",
  target: targetState = () => "incomplete",
}: Given = {}) {
  const libvirt = new FakeLibvirt(state, {
    qemuMonitorCommand: () => ({ result: JSON.stringify({ return: { status: stream } }) }),
  });
  const long = new FakeLibvirt(state);
  const store = new MemoryGrantStore();
  store.grant = { ...handingOver, state: "Committed" };
  const decision = new DecisionFile(directory(), migrationUID);
  decision.begin({ ...migration, paused: false });
  decision.settle({ outcome: "committed", migrationUID });
  const prepared: PrepareRequest[] = [];
  const target: TargetEnd = {
    ...{ release: never, finish: never, abort: never },
    prepare: async (request) => {
      prepared.push(request);
      throw new Error("not now");
    },
    state: async () => targetState(),
  };
  const parts = {
    ...{ libvirt, long, migration, decision, target, grant: handoverGrant(store, sourceHolder) },
    ...{ domain: "5d307ca9-b3ef-428c-8861-06e72d69f223", patience: 10 },
  };
  const recover = () => recoverPostCopy({ flags: ["live", "postcopy"], params: {} }, parts);
  return { recover, long, prepared };
}

test("control: a source whose stream is broken begins again, on the connection for it, and the target prepares", async () => {
  const { recover, long, prepared } = given();
  await expect(recover()).rejects.toThrow("not now");
  expect(long.changes).toEqual(["domainMigrateBegin"]);
  expect(prepared).toMatchObject([{ flags: expect.arrayContaining(["postcopyResume"]) }]);
});

const unreachable = (): never => {
  throw new Error("the link is down");
};

test.each([
  ["perform is in progress", { state: "paused (postcopy)" }, /only a failed post-copy/],
  ["memory still flows", { stream: "postcopy-active" }, /calls its stream postcopy-active/],
  ["another attempt hangs", { stream: "postcopy-recover" }, /calls its stream postcopy-recover/],
  ["the link is down", { target: unreachable }, /the link is down/],
  ["the target is whole", { target: () => "whole" }, /nothing to recover/],
  ["the target is gone", { target: () => "absent" }, /nothing to recover/],
] satisfies readonly (readonly [string, Given, RegExp])[])(
  "libvirt is not asked to recover while %s",
  async (_, world, expected) => {
    const { recover, long, prepared } = given(world);
    await expect(recover()).rejects.toThrow(expected);
    expect([long.calls, prepared]).toEqual([[], []]);
  },
);
