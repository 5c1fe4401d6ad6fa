import { expect, test } from "vitest";
import { fieldAt } from "./field-at.ts";

const vmi = {
  metadata: { uid: "one" },
  status: {
    ready: true,
    interfaces: [{ ipAddress: "10.0.0.1" }],
    conditions: [
      { type: "Ready", status: "False", message: "starting" },
      { type: "Paused", status: "True" },
      { type: "Live", status: "True", message: "moves" },
    ],
  },
};

test.each([
  [".metadata.uid", "one"],
  [".status.ready", "true"],
  [".status.interfaces[0].ipAddress", "10.0.0.1"],
  [".status.interfaces[1].ipAddress", ""],
  [".status.conditions[*].message", "starting moves"],
  ['.status.conditions[?(@.type=="Ready")].status', "False"],
  ['.status.conditions[?(@.type=="Absent")].status', ""],
  [".spec.node.name", ""],
  [".metadata", '{"uid":"one"}'],
])("%s is what kubectl prints", (path, expected) => {
  expect(fieldAt(vmi, path)).toBe(expected);
});

test("nothing is at any path of an object that does not exist", () => {
  expect(fieldAt(undefined, ".status.conditions[*].message")).toBe("");
});

test("a path that is not understood is refused", () => {
  expect(() => fieldAt(vmi, ".status..ready")).toThrow('found "..ready"');
});
