import type { Clock } from "@virtkit/api/clock";
import { type KubeClient, KubeError, type KubeObject } from "@virtkit/kube";
import { expect, test } from "vitest";
import { textIo } from "../testing/text-io.ts";
import { abortInCluster, migrateInCluster } from "./migrate-in-cluster.ts";

const vmi = { namespace: "ns", name: "vm" };
const gone = () => new KubeError("KUBE_STATUS", "no", { status: 404, reason: "NotFound" });

/** A cluster in which a migration has another status at each look; it ends when it is deleted. */
function clusterOf(...statuses: readonly object[]) {
  const deleted: string[] = [];
  const waiting = [...statuses];
  let migration: KubeObject | undefined;
  const client = {
    create: async (_: unknown, object: KubeObject) => {
      migration = { ...object, metadata: { ...object.metadata, name: "mig", uid: "mig-uid" } };
      return migration;
    },
    get: async ({ plural }: { plural: string }) => {
      if (plural === "virtualmachineinstances") return { metadata: {}, status: {} };
      if (!migration) throw gone();
      const status = waiting.length > 1 ? waiting.shift() : waiting[0];
      return { ...migration, status };
    },
    list: async ({ plural }: { plural: string }) => ({
      items:
        plural === "events"
          ? [{ type: "Warning", message: "no room", involvedObject: { name: "mig" } }]
          : migration
            ? [migration]
            : [],
    }),
    delete: async () => {
      deleted.push("mig");
      migration = undefined;
    },
  } as unknown as KubeClient;
  return { client, deleted };
}

/** Time that passes at once for anyone who waits. */
function hurriedClock(): Clock {
  let now = 0;
  return {
    now: () => now,
    setTimeout: (run, milliseconds) => {
      now += milliseconds;
      return setImmediate(run);
    },
    clearTimeout: (timer) => clearImmediate(timer as NodeJS.Immediate),
  };
}

test("follows the migration that it has created, with a line for each phase", async () => {
  const { client } = clusterOf(
    {},
    { phase: "Running" },
    { phase: "Running" },
    { phase: "Succeeded" },
  );
  const io = textIo();
  const wish = { client, vmi, watch: true, clock: hurriedClock() };
  expect(await migrateInCluster(wish, io)).toBe(0);
  expect(io.text().split("\n").slice(0, -1)).toEqual([
    "Moving ns/vm to another node: mig",
    "[........................]   0 %  waiting for its turn, 0.0 s",
    "[##......................]  10 %  moving the guest, 0.5 s",
    "ns/vm: it moved.",
  ]);
});

test("reports a failure before the move with the reason from its events", async () => {
  const { client } = clusterOf({ phase: "Pending" }, { phase: "Failed" });
  const io = textIo();
  expect(await migrateInCluster({ client, vmi, watch: false, clock: hurriedClock() }, io)).toBe(1);
  expect(io.text()).toContain("the control plane gave up in phase Pending: no room");
  expect(io.text()).not.toContain("%");
});

test("Ctrl-C deletes the migration once, and waits for its end", async () => {
  const { client, deleted } = clusterOf({ phase: "Running" });
  const io = textIo();
  const interrupt = AbortSignal.abort();
  const wish = { client, vmi, watch: true, interrupt, clock: hurriedClock() };
  expect(await migrateInCluster(wish, io)).toBe(1);
  expect(deleted).toEqual(["mig"]);
  expect(io.text()).toContain("ns/vm: it was aborted, and the guest still runs where it was.");
});

test("aborting nothing says so, and aborting a migration deletes it", async () => {
  const { client, deleted } = clusterOf({ phase: "Running" });
  const wish = { client, vmi, clock: hurriedClock() };
  await expect(abortInCluster(wish, textIo())).rejects.toThrow("ns/vm is not being moved");
  await client.create(undefined as never, { metadata: {}, spec: { vmiName: "vm" } } as KubeObject);
  const io = textIo();
  expect(await abortInCluster(wish, io)).toBe(0);
  expect(deleted).toEqual(["mig"]);
});
