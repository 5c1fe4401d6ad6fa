import { encodeGrant, grantAnnotation } from "@virtkit/api/grant";
import { silentLog } from "@virtkit/api/observe";
import type { MigrationReport } from "@virtkit/launcher/client";
import { expect, test } from "vitest";
import { config, from, handingOver, movingVmi, report } from "../testing/moving-sample.ts";
import type { FollowedSide } from "./followed-side.ts";
import { leaveNode, type SourceParts } from "./leave-node.ts";
import type { MigrationScene } from "./migration-scene.ts";
import type { WayOut } from "./migration-way.ts";

/** A pass over a source whose VMI asks for an abort. What the pass did is in `calls`. */
async function abortedPass({
  word,
  isConnected,
}: {
  readonly word: MigrationReport | "unbegun";
  /** Whether the launcher can still be asked once it has reported. */
  readonly isConnected: boolean;
}) {
  const calls: string[] = [];
  const verb = (name: string) => async () => void calls.push(name);
  const verbs = ["migrate", "receiveMigration", "followMigration", "noteClaim", "noteGrant"];
  const client = Object.fromEntries(
    [...verbs, "cancelMigration"].map((name) => [name, verb(name)] as const),
  );
  const annotations = { [config.names.own(grantAnnotation)]: encodeGrant(handingOver) };
  const vmi = movingVmi({ abortRequested: true }, { uid: "vmi-1", annotations });
  const hold = {
    record: { podUid: from.podUID },
    domain: { state: "Running", reason: "" },
    hasEnded: false,
    client: client as object | undefined,
  };
  const side = {
    migrationUID: "m-1",
    word,
    trouble: undefined as { readonly why: string } | undefined,
    look: async () => {
      if (!isConnected) hold.client = undefined;
      return word;
    },
    closeWay: async () => {},
  };
  const scene = {
    ...{ vmi, hold, nodeName: "node-a", config: () => config, recorder: { record: () => {} } },
    context: {
      ...{ names: config.names, holderOf: () => from, wall: () => new Date(10_000) },
      ...{ signal: new AbortController().signal, log: silentLog, vmis: {} },
      client: { patch: async () => vmi },
      effects: async (_: string, work: () => unknown) => await work(),
    },
  } as unknown as MigrationScene;
  const parts: SourceParts = {
    side: () => side as unknown as FollowedSide<WayOut>,
    store: () =>
      ({
        read: async () => ({ grant: handingOver, version: vmi }),
        swap: async (_: unknown, next: { readonly state: string }) => {
          calls.push(`swap to ${next.state}`);
          return true;
        },
      }) as unknown as ReturnType<SourceParts["store"]>,
  };
  const pass = await leaveNode(scene, parts);
  return { calls, pass, trouble: side.trouble };
}

test("a handover is taken back only once its launcher has put the abort on its disk", async () => {
  const { calls } = await abortedPass({ word: "unbegun", isConnected: true });
  expect(calls).toEqual(["cancelMigration", "swap to Claimed"]);
});

test.each([["unbegun" as const], [report()]])(
  "if the launcher can no longer be asked, nothing is taken back, and the pass is tried again: %j",
  async (word) => {
    const { calls, pass, trouble } = await abortedPass({ word, isConnected: false });
    expect(calls).toEqual([]);
    expect(pass).toEqual({ owns: true, next: 1_000 });
    expect(trouble?.why).toBe("the launcher of Pod pod-a does not answer");
  },
);
