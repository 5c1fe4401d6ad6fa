import { expect, test } from "vitest";
import { testVmi } from "../testing/render.ts";
import { decentralizedAntiAffinity, targetAntiAffinity } from "./target-anti-affinity.ts";

const apart = {
  labelSelector: { matchLabels: { "kubevirt.io/created-by": "u" } },
  topologyKey: "kubernetes.io/hostname",
};

test("a target keeps off nodes with a Pod of its VMI, on top of what it keeps off already", () => {
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

test("a target from another cluster keeps off nodes of the source's name", () => {
  expect(decentralizedAntiAffinity(undefined, vmi)).toEqual({
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [away] }],
      },
    },
  });
});

test("a source without a node keeps it off none", () => {
  const nowhere = testVmi({ status: { migrationState: { sourceState: {} } } });
  expect(decentralizedAntiAffinity(undefined, nowhere)).toEqual({
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ ...away, values: [""] }] }],
      },
    },
  });
});

test("a source that has not said where it runs is refused", () => {
  expect(() => decentralizedAntiAffinity(undefined, testVmi())).toThrow(
    expect.objectContaining({ path: "status.migrationState.sourceState" }),
  );
});

test("a source Pod of another shape is refused with the field", () => {
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
