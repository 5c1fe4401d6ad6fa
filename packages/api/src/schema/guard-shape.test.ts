import { expect, test } from "vitest";
import { guardShape, shapeProblem, typeProblem } from "./guard-shape.ts";
import { VirtualMachineInstanceSchema } from "./index.ts";

const sound = { spec: { domain: { devices: {} } } };
const odd = { spec: { domain: { devices: {} }, volumes: [null] } };
const bare = { spec: {} };

test("reports the first problem with its field; a missing field does not have the wrong type", () => {
  expect(shapeProblem(VirtualMachineInstanceSchema, sound)).toBeUndefined();
  expect(shapeProblem(VirtualMachineInstanceSchema, odd)?.path).toBe("spec.volumes[0]");
  expect(shapeProblem(VirtualMachineInstanceSchema, bare)?.path).toBe("spec.domain");
  expect(typeProblem(VirtualMachineInstanceSchema, bare)).toBeUndefined();
  expect(typeProblem(VirtualMachineInstanceSchema, odd)?.message).toMatch(/^spec\.volumes\[0\] /);
});

class Own extends Error {}
const run = (value: unknown, cause: Error): (() => unknown) => {
  const fail = (): never => {
    throw cause;
  };
  return () =>
    guardShape(VirtualMachineInstanceSchema, value, fail, {
      isOwn: (error) => error instanceof Own,
      refuse: (problem, error) => new Own(problem?.path ?? "sound", { cause: error }),
    });
};

test("a failure on a value of another shape names the field; an error that says more is kept", () => {
  expect(run(odd, new TypeError("x"))).toThrow("spec.volumes[0]");
  expect(run(sound, new TypeError("x"))).toThrow("sound");
  expect(run(odd, new Own("the name is taken"))).toThrow("the name is taken");
});
