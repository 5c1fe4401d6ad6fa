import { isDeepStrictEqual } from "node:util";
import { at } from "@virtkit/api/shape";
import { virtkitLauncherProfile } from "@virtkit/launcher-pod";
import { expect, test } from "vitest";
import { recordedVmiPass, vmiConfig } from "../areas/vmi-controller.ts";
import { recordedCases } from "../recorded/recorded-cases.ts";
import { comparable, productionPass, withGrants, withKubelets } from "./production-vmi.ts";
import { type RecordedObjects, settleCase } from "./settle-case.ts";

const profile = virtkitLauncherProfile({ image: "virt-launcher:v1" });

/** Why cases end differently in production than in KubeVirt's mode. */
const reasons = {
  "a guest that had a node is not proven to have ended by the absence of its Pod": [
    "deleted-running-pod-none",
    "deleted-scheduled-pod-none",
    "expectation-pod-creation-blocks-running",
    "expectation-pod-deletion-blocks-running",
    "expectation-pvc-creation-blocks-running",
    "patch-refused-running",
    "phase-scheduled-pod-none",
    "pods-only-other-node",
    "receiver-running-pod-none",
  ],
  "the Pod of an ended guest is kept until the node agent has written the phase": [
    "hotplug-launcher-deleting",
    "phase-running-pod-deleting",
    "phase-scheduled-pod-deleting",
    "phase-unknown-pod-temp",
    "receiver-running-pod-deleting",
  ],
  "both finalizers of a VMI are removed in one write, once its Pods are gone": [
    "final-failed-vm-finalizer-pod-left",
    "final-succeeded-vm-finalizer-pod-left",
  ],
  "a Pod that is ready gets the label of its node, even if its VMI stays where it is": [
    "phase-unknown-pod-ready",
    "qos-besteffort-dedicated",
    "qos-none-dedicated",
    "receiver-failed-waitingforsync-pod-ready",
  ],
  "a claim that is deleted in the same pass is not among the volumes": [
    "backend-not-needed-pvc-deleted",
  ],
  "the target Pod of a migration that does not exist is deleted": ["pods-migration-target-running"],
};

test("in production every case ends as in KubeVirt's mode, but for listed ones, and then nothing is written", async () => {
  const different: string[] = [];
  const restless: Record<string, readonly string[]> = {};
  for (const { name, input, context } of recordedCases("vmi-controller")) {
    const objects = withKubelets(at(input, "objects") as RecordedObjects);
    const key = String(at(input, "key"));
    const config = { ...vmiConfig(context), profile };
    const production = { ...config, podNames: "derived", stepByStep: false } as const;
    const theirs = await settleCase(objects, context, recordedVmiPass(key, config));
    const ours = await settleCase(withGrants(objects), context, productionPass(key, production));
    if (ours.restless.length > 0) restless[name] = ours.restless;
    if (!isDeepStrictEqual(comparable(ours.objects), comparable(theirs.objects))) {
      different.push(name);
    }
  }
  expect(restless).toEqual({});
  expect(different.toSorted()).toEqual(Object.values(reasons).flat().toSorted());
}, 60_000);
