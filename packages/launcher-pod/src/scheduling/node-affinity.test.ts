import type { Affinity } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { render } from "../testing/render.ts";

const obsolete = {
  key: "node-labeller.kubevirt.io/obsolete-host-model",
  operator: "DoesNotExist",
};
const forbidden = { key: "cpu-feature.node.kubevirt.io/svm", operator: "DoesNotExist" };

test("a guest with the host's CPU model avoids obsolete ones", () => {
  const terms = [{ matchExpressions: [obsolete] }];
  const affinity = {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } },
  };
  expect(render({}).spec.affinity).toEqual(affinity);
  expect(render({ domain: { cpu: { model: "host-model" } } }).spec.affinity).toEqual(affinity);
  expect(render({ domain: { cpu: { model: "Penryn" } } }).spec.affinity).toBeUndefined();
});

test("every alternative of the VMI's affinity avoids what is forbidden; the VMI is not changed", () => {
  const affinity: Affinity = {
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [],
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [
          { matchExpressions: [{ key: "a", operator: "Exists" }] },
          { matchFields: [{ key: "b", operator: "Exists" }] },
        ],
      },
    },
    podAffinity: {},
  };
  const before = structuredClone(affinity);
  const features = [{ name: "svm", policy: "forbid" }];
  const pod = render({ spec: { affinity }, domain: { cpu: { model: "Penryn", features } } });
  expect(pod.spec.affinity).toEqual({
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [],
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [
          { matchExpressions: [{ key: "a", operator: "Exists" }, forbidden] },
          { matchFields: [{ key: "b", operator: "Exists" }], matchExpressions: [forbidden] },
        ],
      },
    },
    podAffinity: {},
  });
  expect(affinity).toEqual(before);
});
