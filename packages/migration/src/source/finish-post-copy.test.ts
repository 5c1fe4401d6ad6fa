import { afterEach, expect, test } from "vitest";
import { DecisionFile, type TargetEnd, type TargetState } from "../handover/index.ts";
import { FakeLibvirt } from "../testing/fake-libvirt.ts";
import {
  handingOver,
  MemoryGrantStore,
  migration,
  sourceHolder,
  targetHolder,
  temporaryDirectory,
} from "../testing/handover-fixture.ts";
import { handoverGrant } from "./drive-grant.ts";
import type { SourceParts } from "./drive-parts.ts";
import { finishPostCopy } from "./finish-post-copy.ts";

const directory = temporaryDirectory(afterEach);
const request = { cookie: new Uint8Array(), flags: ["live", "postcopy"] };
const never = (): Promise<never> => new Promise(() => {});

interface World {
  readonly libvirt: FakeLibvirt;
  readonly store: MemoryGrantStore;
  readonly parts: SourceParts;
}

/** A source after the switch, and a target that says what it has. */
function world(says: () => Promise<TargetState>, finish: TargetEnd["finish"] = never): World {
  const libvirt = new FakeLibvirt("paused (postcopy)");
  const store = new MemoryGrantStore();
  store.grant = { ...handingOver, state: "Committed" };
  const target = { prepare: never, finish, release: never, abort: never, state: says };
  const decision = new DecisionFile(directory(), migration.migrationUID);
  const grant = handoverGrant(store, sourceHolder);
  const domain = "5d307ca9-b3ef-428c-8861-06e72d69f223";
  const parts = { libvirt, domain, migration, decision, target, grant, patience: 10 };
  return { libvirt, store, parts };
}

test("returns the answer if there is one", async () => {
  const { parts } = world(never, async () => ({ cookie: new Uint8Array([7]) }));
  expect(await finishPostCopy(parts, request)).toEqual(new Uint8Array([7]));
});

test("after a lost answer, does not wait once the target reports that it is complete", async () => {
  const said: TargetState[] = ["incomplete", "incomplete", "whole"];
  const { parts } = world(async () => said.shift() ?? "whole");
  expect(await finishPostCopy(parts, request)).toEqual(new Uint8Array());
  expect(said).toEqual([]);
});

test("if the target is unreachable, the grant says that it has the guest", async () => {
  const { parts, store } = world(async () => {
    store.grant = { vmiUID: "vmi-1", epoch: 2, seq: 9, state: "Claimed", holder: targetHolder };
    throw new Error("nobody answers");
  });
  expect(await finishPostCopy(parts, request)).toEqual(new Uint8Array());
});

test("detects a target that was never informed, so that it can be informed again", async () => {
  const { parts } = world(async () => "paused");
  await expect(finishPostCopy(parts, request)).rejects.toMatchObject({
    path: "target/finish",
    message: expect.stringContaining("did not reach the target"),
  });
});

test("a stream that breaks ends the wait, whatever the target says", async () => {
  const { parts, libvirt } = world(async () => {
    libvirt.state = "paused (postcopyFailed)";
    return "incomplete";
  });
  await expect(finishPostCopy(parts, request)).rejects.toMatchObject({
    message: expect.stringContaining("the stream of post-copy broke"),
  });
});
