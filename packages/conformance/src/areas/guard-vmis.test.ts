import { expect, test } from "vitest";
import { guardVmis } from "./guard-vmis.ts";

const sound = { spec: { domain: { devices: {} } } };
const failing = (): never => {
  throw new TypeError("x is not a function");
};

test("a failure on a malformed VMI names its first malformed field", () => {
  const machines = { "input.vmi": sound, "context.vmis[0]": { spec: { domain: 7 } } };
  expect(() => guardVmis(machines, failing)).toThrow(
    expect.objectContaining({ code: "BATCH_BAD_INPUT", path: "context.vmis[0].spec.domain" }),
  );
  expect(() => guardVmis({ "input.vmi": null }, failing)).toThrow(
    expect.objectContaining({ path: "input.vmi" }),
  );
});

test("a failure on valid VMIs is not blamed on them, and neither is one with a code", () => {
  expect(() => guardVmis({ "input.vmi": sound }, failing)).toThrow(TypeError);
  const coded = Object.assign(new Error("no"), { code: "X_BAD" });
  expect(() =>
    guardVmis({ "input.vmi": 7 }, () => {
      throw coded;
    }),
  ).toThrow(coded);
});
