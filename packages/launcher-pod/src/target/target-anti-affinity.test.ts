import { expect, test } from "vitest";
import { testVmi } from "../testing/render.ts";
import { decentralizedAntiAffinity, targetAntiAffinity } from "./target-anti-affinity.ts";

const apart = {
  labelSelector: { matchLabels: { "kubevirt.io/created-by": "u" } },
  topologyKey: "kubernetes.io/hostname",
};

test("a target avoids nodes with a Pod of its VMI, in addition to those that it already avoids", () => {
  const required = "requiredDuringSchedulingIgnoredDuringExecution";
  expect(targetAntiAffinity(undefined, "u")).toEqual({ podAntiAffinity: { [required]: [apart] } });
  const before = { nodeAffinity: {}, podAntiAffinity: { [required]: [{ topologyKey: "z" }] } };
  expect(targetAntiAffinity(before, "u")).toEqual({
    nodeAffinity: {},
    podAntiAffinity: { [required]: [{ topologyKey: "z" }, apart] },
  });
});

const away = { key: "kubernetes.io/hostname", operator: "NotIn", values: ["node01"] };
const vmi = testVmi({ status: { migrationState: { sourceState: { node: "node01" } } } });

test("a target from another cluster avoids nodes with the source's name", () => {
  expect(decentralizedAntiAffinity(undefined, vmi)).toEqual({
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [away] }],
      },
    },
  });
});

test("a source without a node excludes none", () => {
  const nowhere = testVmi({ status: { migrationState: { sourceState: {} } } });
  expect(decentralizedAntiAffinity(undefined, nowhere)).toEqual({
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ ...away, values: [""] }] }],
      },
    },
  });
});

test("refuses a source that does not say where it runs", () => {
  expect(() => decentralizedAntiAffinity(undefined, testVmi())).toThrow(
    expect.objectContaining({ path: "status.migrationState.sourceState" }),
  );
});

test("refuses a source Pod of another shape, with the field", () => {
  const required = { requiredDuringSchedulingIgnoredDuringExecution: 7 };
  expect(() => targetAntiAffinity({ podAntiAffinity: required } as never, "uid")).toThrow(
    expect.objectContaining({
      code: "LAUNCHER_POD_SOURCE_INVALID",
      path: "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution",
    }),
  );
  expect(() => decentralizedAntiAffinity({}, undefined as never)).toThrow(
    expect.objectContaining({ path: "status.migrationState.sourceState" }),
  );
});
