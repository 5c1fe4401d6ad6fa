import { expect, test } from "vitest";
import { clusterConfig } from "../config/index.ts";
import { type Change, type ClusterOptions, instance, judged } from "../testing/verdict.ts";
import { admit } from "./admit.ts";

const labelled = (labels: Change): Record<string, unknown> =>
  instance({}, { metadata: { labels } });

test.each([
  "created-by",
  "migrationJobUID",
  "nodeName",
  "migrationTargetNodeName",
  "schedulable",
  "install-strategy",
])("users may not set the label kubevirt.io/%s, KubeVirt may", (name) => {
  const object = labelled({ [`kubevirt.io/${name}`]: "x" });
  expect(judged(object)).toEqual(["NotSupported metadata.labels"]);
  const username = "system:serviceaccount:kubevirt:kubevirt-controller";
  const request = {
    kind: "VirtualMachineInstance",
    operation: "CREATE",
    object,
    username,
  } as const;
  expect(admit(request, clusterConfig()).allowed).toBe(true);
});

test("other labels are the user's", () => {
  expect(judged(labelled({ "kubevirt.io/size": "small", nodeName: "x" }))).toEqual([]);
});

test.each<[Change, ClusterOptions, string[]]>([
  [{ "kubevirt.io/ignitiondata": "{}" }, {}, ["Invalid metadata.annotations"]],
  [{ "kubevirt.io/ignitiondata": "" }, {}, []],
  [{ "kubevirt.io/ignitiondata": "{}" }, { gates: ["ExperimentalIgnitionSupport"] }, []],
  [{ "hooks.kubevirt.io/hookSidecars": "[]" }, {}, ["Invalid metadata.annotations"]],
  [{ "hooks.kubevirt.io/hookSidecars": "[]" }, { gates: ["Sidecar"] }, []],
])("annotations %j %j: %j", (annotations, options, expected) => {
  expect(judged(instance({}, { metadata: { annotations } }), options)).toEqual(expected);
});
