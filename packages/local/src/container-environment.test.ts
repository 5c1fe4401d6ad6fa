import type { Pod } from "@virtkit/launcher-pod";
import { expect, test } from "vitest";
import { containerEnvironment, expandCommand, podField } from "./container-environment.ts";

const pod: Pod = {
  metadata: { name: "demo", uid: "u-1", labels: { a: "1", b: 'x"y' } },
  spec: { containers: [] },
};

test("variables are values, or fields of the Pod", () => {
  const env = [
    { name: "A", value: "1" },
    { name: "UID", valueFrom: { fieldRef: { fieldPath: "metadata.uid" } } },
  ];
  expect(containerEnvironment(pod, { name: "c", resources: {}, env })).toEqual({
    A: "1",
    UID: "u-1",
  });
});

test.each([
  ["metadata.name", "demo"],
  ["metadata.labels['a']", "1"],
  ["metadata.labels", 'a="1"\nb="x\\"y"'],
  ["metadata.annotations", ""],
  ["spec.nodeName", ""],
])("the field %s", (path, text) => {
  expect(podField(pod, path)).toBe(text);
});

test("a command can refer to variables as with a kubelet", () => {
  expect(expandCommand(["a", "$(UID)", "x$(UID)y$(NO)", "$$(UID)", "$UID"], { UID: "1" })).toEqual([
    "a",
    "1",
    "x1y$(NO)",
    "$(UID)",
    "$UID",
  ]);
});
