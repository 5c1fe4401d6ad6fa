import { quantityFrom } from "@virtkit/api/quantity";
import { expect, test } from "vitest";
import { answerCase, type OracleCase, oracleCases, withoutOracle } from "../testing/oracle.ts";
import { functions } from "./launcher-pod.ts";

const cases = oracleCases("launcher-pod");

test("every recorded Pod and overhead of KubeVirt is ours too", async ({ skip }) => {
  skip(!cases, withoutOracle);
  const differing: string[] = [];
  for (const recorded of cases ?? []) {
    const answer = await answerCase(recorded);
    differing.push(...differences(recorded, answer).map((text) => `${recorded.name}: ${text}`));
  }
  expect(differing).toEqual([]);
});

const metadata = { name: "vm", namespace: "ns", uid: "u" };
const status = { selinuxContext: "u:r:t:s0" };

test("what is null or empty in a VMI is not there, what must be there is zero", () => {
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
])("%s without %s is refused", (fn, field, fields) => {
  const input = { vmi: { metadata, status }, migration: {}, ...fields };
  expect(() => functions[fn]?.(input, {})).toThrow(
    expect.objectContaining({ code: "BATCH_BAD_INPUT", path: `input.${field}` }),
  );
});

function differences({ expected }: OracleCase, answer: unknown): string[] {
  const { error } = expected as { error?: string };
  if (error === undefined) return compare(expected, answer, "");
  return typeof answer === "object" && answer && "thrown" in answer ? [] : ["no error"];
}

/** Every place where two values differ; texts that are equal as quantities do not. */
function compare(expected: unknown, actual: unknown, path: string): string[] {
  if (typeof expected === "object" && expected && typeof actual === "object" && actual) {
    const keys = new Set([...Object.keys(expected), ...Object.keys(actual)]);
    return [...keys].flatMap((key) =>
      compare(Reflect.get(expected, key), Reflect.get(actual, key), `${path}/${key}`),
    );
  }
  if (expected === actual || sameQuantity(path, expected, actual)) return [];
  return [`${path}: ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`];
}

function sameQuantity(path: string, a: unknown, b: unknown): boolean {
  if (!/\/(limits|requests)\/|\/quantity$|\/sizeLimit$/.test(path)) return false;
  if (typeof a !== "string" || typeof b !== "string") return false;
  return quantityFrom(a).equals(quantityFrom(b));
}
