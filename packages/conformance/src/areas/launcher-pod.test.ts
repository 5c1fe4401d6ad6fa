import { expect, test } from "vitest";
import { functions } from "./launcher-pod.ts";

const metadata = { name: "vm", namespace: "ns", uid: "u" };
const status = { selinuxContext: "u:r:t:s0" };

test("null and empty values in a VMI count as missing, required ones as zero", () => {
  const bare = { metadata, spec: { domain: { devices: {} } } };
  const answer = functions["renderLaunchManifest"]?.({ vmi: bare }, {});
  const odd = {
    metadata: { ...metadata, labels: null },
    spec: {
      domain: { resources: { requests: {} }, devices: { disks: null, gpus: [] } },
      volumes: null,
      tolerations: [],
      schedulerName: "",
    },
    status: null,
  };
  expect(functions["renderLaunchManifest"]?.({ vmi: odd }, {})).toEqual(answer);
  expect(functions["renderLaunchManifest"]?.({ vmi: { metadata } }, {})).toEqual(answer);
});

test("empty fields of a toleration are not passed on, an object may have no metadata", () => {
  const ownerPod = { spec: { tolerations: [{ key: "zz", operator: "", value: null }] } };
  const input = { vmi: { metadata, status }, volumes: [{ name: "v" }], ownerPod };
  const context = { objects: { persistentVolumeClaims: [{}], resourceQuotas: null } };
  expect(functions["renderHotplugAttachmentTriggerPod"]?.(input, context)).toMatchObject({
    pod: {
      spec: {
        tolerations: [{ key: "zz" }],
        volumes: [{ persistentVolumeClaim: { claimName: "" } }, {}],
      },
    },
  });
  expect(() => functions["renderLaunchManifest"]?.({ vmi: { metadata } }, context)).not.toThrow();
});

test.each([
  ["renderMigrationManifest", "sourcePod", {}],
  ["renderHotplugAttachmentPod", "ownerPod", {}],
  ["renderHotplugAttachmentTriggerPod", "ownerPod", { volumes: [{ name: "v" }] }],
  ["renderHotplugAttachmentTriggerPod", "volumes", { ownerPod: {} }],
])("refuses %s without %s", (fn, field, fields) => {
  const input = { vmi: { metadata, status }, migration: {}, ...fields };
  expect(() => functions[fn]?.(input, {})).toThrow(
    expect.objectContaining({ code: "BATCH_BAD_INPUT", path: `input.${field}` }),
  );
});
