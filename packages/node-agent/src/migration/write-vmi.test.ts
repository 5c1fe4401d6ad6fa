import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { KubeObject } from "@virtkit/kube";
import { expect, test } from "vitest";
import { vmiResource } from "../testing/agent-world.ts";
import { MovingWorld } from "../testing/moving-world.ts";
import type { MigrationScene } from "./migration-scene.ts";
import { writeVmi } from "./write-vmi.ts";

type Vmi = VirtualMachineInstance & KubeObject;

test("what an agent writes of one migration is not added to the next one's state", async () => {
  await using world = new MovingWorld();
  await world.begin();
  await world.handOff();
  const vmi = (await world.vmi()) as Vmi;
  const { client } = world;
  const scene = {
    ...{ vmi, hold: {}, recorder: { record: () => {} } },
    context: {
      ...{ client, vmis: vmiResource, signal: new AbortController().signal },
      effects: async (_: string, work: () => unknown) => await work(),
    },
  } as unknown as MigrationScene;
  const startTimestamp = "2026-01-01T00:00:00Z";
  const migrationState = { ...vmi.status?.migrationState, startTimestamp };
  const after = { ...vmi, status: { ...vmi.status, migrationState } };
  await world.change((each) => ({
    ...each,
    status: { ...each.status, migrationState: { migrationUid: "m-2" } },
  }));
  expect(await writeVmi(scene, after, [])).toBe(false);
  expect(await world.migrationState()).toEqual({ migrationUid: "m-2" });
});
