import { isDeepStrictEqual } from "node:util";
import { at } from "@virtkit/api/shape";
import { expect, test } from "vitest";
import { vmOptions, vmReconciler } from "../areas/vm-controller.ts";
import { recordedCases } from "../recorded/recorded-cases.ts";
import { productionVmPass } from "./production-vm.ts";
import { comparable, withGrants } from "./production-vmi.ts";
import { caseConfig, reconcileOnce } from "./reconcile-case.ts";
import { type Pass, type RecordedObjects, settleCase } from "./settle-case.ts";

/** Why cases end differently in production than in KubeVirt's mode. */
const reasons = {
  "a deleted VM is removed once the grant of its VMI has ended, and the VMI a moment later": [
    "delete-vmi-failed",
    "delete-vmi-failed-deleting",
    "delete-vmi-succeeded",
  ],
};

/** Cases in which the name of the VMI is taken: its creation is tried again in every pass, as in KubeVirt. */
const taken = [
  "adopt-vmi-deleting-no-owner",
  "adopt-vmi-owner-other-uid",
  "start-vmi-exists-foreign",
];

test("in production every case ends as in KubeVirt's mode, but for listed ones, and then nothing is written", async () => {
  const different: string[] = [];
  const restless: Record<string, readonly string[]> = {};
  for (const { name, input, context } of recordedCases("vm-controller")) {
    const objects = at(input, "objects") as RecordedObjects;
    const key = String(at(input, "key"));
    const mayClone = at(context, "flags", "cloneAuthorized") !== false;
    const production = { config: caseConfig(context), options: vmOptions(context), mayClone };
    const theirs = await settleCase(objects, context, recordedVmPass(key, context));
    const ours = await settleCase(withGrants(objects), context, productionVmPass(key, production));
    if (ours.restless.length > 0) restless[name] = ours.restless;
    if (!isDeepStrictEqual(comparable(ours.objects), comparable(theirs.objects))) {
      different.push(name);
    }
  }
  expect(Object.keys(restless).toSorted()).toEqual(taken);
  expect(new Set(Object.values(restless).flat())).toEqual(
    new Set(["create virtualmachineinstances"]),
  );
  expect(different.toSorted()).toEqual(Object.values(reasons).flat().toSorted());
}, 60_000);

/** Passes over a VM in KubeVirt's mode, with caches that are never behind. */
function recordedVmPass(key: string, context: unknown): Pass {
  const { expectations: _, ...rest } = Object(context) as Record<string, unknown>;
  return async (cluster, now) => {
    const later = { ...rest, now: new Date(now).toISOString() };
    await reconcileOnce(cluster, key, later, vmReconciler);
  };
}
