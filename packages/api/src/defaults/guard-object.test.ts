import { expect, test } from "vitest";
import { isApiError } from "../api-error.ts";
import { clusterConfig } from "../config/index.ts";
import { guardObject } from "./guard-object.ts";
import {
  defaultVirtualMachine,
  defaultVirtualMachineInstance,
  defaultVirtualMachineInstanceMigration,
} from "./index.ts";

const config = clusterConfig();
const functions: Readonly<Record<string, (object: never) => unknown>> = {
  vmi: (object) => defaultVirtualMachineInstance(object, config),
  vm: (object) => defaultVirtualMachine(object, config),
  migration: (object) => defaultVirtualMachineInstanceMigration(object, config),
};

test.each<[string, unknown, string]>([
  ["vmi", undefined, "(root)"],
  ["vmi", null, "(root)"],
  ["vmi", "text", "(root)"],
  ["vmi", {}, "spec"],
  ["vmi", { spec: { domain: 5 } }, "spec.domain"],
  ["vmi", { spec: { domain: { devices: { disks: [null] } } } }, "spec.domain.devices.disks[0]"],
  ["vm", undefined, "(root)"],
  ["vm", {}, "spec"],
  ["vm", { spec: { template: { spec: { domain: 5 } } } }, "spec.template.spec.domain"],
  ["migration", null, "(root)"],
  ["migration", {}, "spec"],
])("defaulting a %s of %j names the wrong field", (kind, object, path) => {
  const run = () => functions[kind]?.(object as never);
  expect(run).toThrow(expect.objectContaining({ code: "API_OBJECT_MALFORMED", path }));
  expect(run).toThrow(path);
  try {
    run();
  } catch (error) {
    expect(isApiError(error)).toBe(true);
  }
});

test("a failure that is not the object's fault is passed on", () => {
  const failure = new Error("the source of random numbers is gone");
  const fail = () => {
    throw failure;
  };
  expect(() => guardObject({ kind: "any-object" }, {}, fail)).toThrow(failure);
});
