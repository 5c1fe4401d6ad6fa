import { expect, test } from "vitest";
import { cgroupsToChange } from "./cgroups-to-change.ts";
import {
  checkDeviceRule,
  type DeviceRule,
  defaultDeviceRules,
  deviceRulesForV1,
  initialDeviceRulesForV2,
  mergeDeviceRules,
} from "./device-rule.ts";
import { parseDevicesList, planDeviceFiles } from "./v1-device-files.ts";

const rule = (major: number, minor: number, changes: Partial<DeviceRule> = {}): DeviceRule => ({
  type: "b",
  major,
  minor,
  permissions: "rwm",
  allow: true,
  ...changes,
});

test("every launcher may use null, ptmx, tun, vhost-net and the terminals", () => {
  const rules = defaultDeviceRules("v2");
  expect(rules).toHaveLength(20);
  expect(rules[2]).toEqual({ type: "c", major: 10, minor: 200, permissions: "rwm", allow: true });
  expect(rules.at(-1)).toMatchObject({ major: 151, minor: -1 });
  expect(defaultDeviceRules("v1")[0]?.permissions).toBe("rw");
});

test("a request comes first and replaces an earlier rule for the same device", () => {
  const merged = mergeDeviceRules([rule(8, 1), rule(8, 2)], [rule(8, 2, { allow: false })]);
  expect(merged).toEqual([rule(8, 2, { allow: false }), rule(8, 1)]);
});

test("treats block and character devices with the same numbers as different devices", () => {
  expect(mergeDeviceRules([rule(8, 1)], [rule(8, 1, { type: "c" })])).toHaveLength(2);
});

test("keeps a device that is listed twice once", () => {
  expect(mergeDeviceRules([rule(8, 1), rule(8, 1)], [])).toEqual([rule(8, 1)]);
});

test("v1 adds the defaults to each request; v2 has them from the start", () => {
  expect(deviceRulesForV1(undefined, [rule(8, 1)])).toHaveLength(21);
  expect(deviceRulesForV1([rule(8, 1), rule(9, 9)], [rule(8, 1)])).toHaveLength(22);
  expect(initialDeviceRulesForV2([rule(8, 1)])[0]).toEqual(rule(8, 1));
});

test.each([
  { type: "a" },
  { major: -2 },
  { minor: 1.5 },
  { permissions: "" },
  { permissions: "rr" },
  { permissions: "x" },
])("rejects a rule with %j", (changes) => {
  expect(() => checkDeviceRule(rule(8, 1, changes as Partial<DeviceRule>))).toThrow(
    expect.objectContaining({ path: Object.keys(changes)[0] }),
  );
});

test("reads v1's list and skips a line for all devices", () => {
  expect(parseDevicesList("a *:* rwm\nc 10:200 rw\nb 8:* m\n")).toEqual([
    rule(10, 200, { type: "c", permissions: "rw" }),
    rule(8, -1, { permissions: "m" }),
  ]);
  expect(() => parseDevicesList("c 10 rw\n")).toThrow(/devices.list/);
});

test("writes only what changes on v1, grants before withdrawals", () => {
  const current = [rule(8, 1), rule(8, 2), rule(8, 4)];
  const wanted = [rule(8, 1, { permissions: "r" }), rule(8, 3), rule(8, 4)];
  expect(planDeviceFiles(current, wanted)).toEqual([
    { file: "devices.allow", value: "b 8:3 rwm" },
    { file: "devices.deny", value: "b 8:1 wm" },
    { file: "devices.deny", value: "b 8:2 rwm" },
  ]);
});

test("a deny rule removes letters from an earlier allow rule", () => {
  const wanted = [rule(8, 1), rule(8, 1, { permissions: "w", allow: false })];
  expect(planDeviceFiles([], wanted)).toEqual([{ file: "devices.allow", value: "b 8:1 rm" }]);
});

test.each([
  ["/x.scope/container", "/x.scope"],
  ["/x.scope/container/", undefined],
  ["/x.slice/container", undefined],
  ["/x.scope/other", undefined],
  ["/x.scope", undefined],
  ["container", undefined],
])("puts the filter of %s into %s as well", (directory, parent) => {
  expect(cgroupsToChange(directory)).toEqual(
    parent ? { target: directory, parent } : { target: directory },
  );
});
