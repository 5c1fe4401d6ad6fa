import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ManualClock } from "@virtkit/api/clock";
import { encodeGrant, type Granted, grantAnnotation, type Holder } from "@virtkit/api/grant";
import { names as namesOf } from "@virtkit/api/names";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { defineResource, type KubeClient, KubeError } from "@virtkit/kube";
import { expect, onTestFinished, test } from "vitest";
import { effectsWith } from "./seams.ts";
import { VersionMark } from "./version-mark.ts";
import { claimGrant } from "./vmi-grant.ts";

const names = namesOf();
const vmis = defineResource({
  ...{ group: names.groups.core, version: "v1" },
  ...{ plural: "virtualmachineinstances", kind: "VirtualMachineInstance" },
});
const holder: Holder = {
  ...{ podUID: "pod", containerID: "c1", node: "n1" },
  ...{ machineID: "m1", bootID: "b1", nonce: "x" },
};
const granted: Granted = { state: "Granted", vmiUID: "uid", epoch: 1, seq: 1, podUID: "pod" };
const metadata = {
  ...{ namespace: "ns", name: "vm", uid: "uid", resourceVersion: "7" },
  annotations: { [names.own(grantAnnotation)]: encodeGrant(granted) },
};

test("a second claim waits for its turn by the agent's clock, and by no other", async () => {
  const directory = mkdtempSync(join(tmpdir(), "virtkit-grant-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  let swaps = 0;
  const client = {
    list: async () => ({ metadata: { resourceVersion: "7" }, items: [{ metadata }] }),
    patch: async () => {
      if (++swaps === 1) throw new KubeError("KUBE_STATUS", "somebody was faster", { status: 409 });
      return { metadata };
    },
  } as unknown as KubeClient;
  const clock = new ManualClock();
  const random = { number: () => 0.5, uuid: () => "" };
  const claiming = claimGrant({ metadata } as unknown as VirtualMachineInstance, holder, {
    ...{ client, vmis, names, clock, random, effects: effectsWith() },
    ...{ mark: new VersionMark(directory), signal: new AbortController().signal },
  });
  await clock.pass(10);
  expect([swaps, clock.pending]).toEqual([1, 1]);
  await clock.pass(1);
  expect((await claiming).grant).toEqual({ vmiUid: "uid", podUid: "pod", epoch: 1 });
  expect(swaps).toBe(2);
});
