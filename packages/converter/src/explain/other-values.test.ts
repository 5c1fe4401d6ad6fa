import { VirtualMachineInstanceSchema } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { likelyValues, otherValues, schemaAt } from "./other-values.ts";

test.each([
  [true, [undefined, false]],
  [2, [undefined, 3, 0]],
  ["1Gi", [undefined, "2Gi"]],
  ["true", [undefined, "false"]],
  ["0000:81:00.0", [undefined, "0000:81:00.1"]],
  ["02:00:00:00:00:0f", [undefined, "02:00:00:00:00:00"]],
  ["disk1", [undefined, "disk1x"]],
  ["", [undefined, "x"]],
  [
    [1, 2],
    [undefined, [2], [1]],
  ],
  [{}, [undefined]],
])("instead of %j", (value, others) => {
  expect(otherValues(value, undefined)).toEqual(others);
});

test("known values come from the schema, and exclude the present one", () => {
  const path = ["spec", "domain", "devices", "disks", 0, "cache"];
  const schema = schemaAt(VirtualMachineInstanceSchema, path);
  expect(otherValues("none", schema)).toContain("writethrough");
  expect(otherValues("none", schema)).not.toContain("none");
  expect(likelyValues(schema)).toContain("none");
  expect(likelyValues(schemaAt(VirtualMachineInstanceSchema, ["spec", "nonsense"]))).toEqual([]);
});
