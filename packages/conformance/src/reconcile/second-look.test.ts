import { at } from "@virtkit/api/shape";
import { expect, test } from "vitest";
import { poolReconciler } from "../areas/pool.ts";
import { replicaSetReconciler } from "../areas/replicaset.ts";
import { vmReconciler } from "../areas/vm-controller.ts";
import { type RecordedCase, recordedCases } from "../recorded/recorded-cases.ts";
import { type ReconcilePass, reconcilePass } from "./reconcile-case.ts";

type Look = (input: unknown, context: unknown) => Promise<ReconcilePass>;

/** What a case leaves behind, as the input of the next pass; undefined if that is unknown. */
async function afterwards(look: Look, { input, context }: RecordedCase): Promise<unknown> {
  const { cluster, plan } = await look(input, context);
  const isKnown = plan.writes.every(({ kind }) => kind === "patch") && !plan.error;
  if (!isKnown || cluster.writes.length === 0) return undefined;
  const left: Record<string, object[]> = {};
  for (const { plural, now } of cluster.stored()) {
    left[plural] = [...(left[plural] ?? []), now];
  }
  return { key: at(input, "key"), objects: left };
}

/** Passes after which there is something else to do. */
const leadOn: Readonly<Record<string, readonly string[]>> = {
  "vm-controller": [
    // The version of the API is written first, and separately.
    "api-version-missing",
    // The VM has changed, and the next pass judges it as it is then.
    "firmware-uuid-running-missing",
    "it-always-expand",
    "it-always-expandall",
    "net-plug-absent",
    "run-halted-start-request-paused",
    // The stop is done, and the start comes next.
    "run-manual-restart-request-vmi-gone",
    // The VMI has changed, and the VM follows it.
    "volmig-cancel",
    // The VMI knows where its volumes go, and gets them next.
    "volmig-migration-storage-migratable-true",
    // Of two requests for one volume the second counts as done before the first.
    "volreq-add-remove-running",
    "volreq-add-remove-vmi-deleting",
  ],
  replicaset: ["api-version-missing"],
};

test.each<[string, Look, number]>([
  ["vm-controller", (input, context) => reconcilePass(input, context, vmReconciler), 100],
  ["replicaset", (input, context) => reconcilePass(input, context, replicaSetReconciler), 5],
  ["pool", (input, context) => reconcilePass(input, context, poolReconciler), 2],
])("%s: a second look at what the first left behind writes nothing", async (area, look, least) => {
  const again: string[] = [];
  let looks = 0;
  for (const recorded of recordedCases(area)) {
    const input = await afterwards(look, recorded);
    if (!input) continue;
    looks += 1;
    const later = { ...Object(recorded.context), now: "2026-01-01T00:00:20Z" };
    const { cluster } = await look(input, later);
    if (cluster.writes.length > 0) again.push(recorded.name);
  }
  expect(again).toEqual(leadOn[area] ?? []);
  expect(looks).toBeGreaterThan(least);
});
