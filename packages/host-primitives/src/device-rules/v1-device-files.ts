import type { Cgroup } from "../cgroups/cgroup.ts";
import { HostError } from "../host-error.ts";
import { anyNumber, checkDeviceRule, type DeviceRule } from "./device-rule.ts";

/**
 * Parses v1's `devices.list`. A rule for all devices (`a *:* rwm`) is skipped, because it names
 * none.
 */
export function parseDevicesList(text: string): DeviceRule[] {
  const rules: DeviceRule[] = [];
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const match = /^([abc]) (\d+|\*):(\d+|\*) ([rwm]{1,3})$/.exec(line);
    if (!match) {
      const message = `this is not a line of devices.list: ${JSON.stringify(line.slice(0, 100))}`;
      throw new HostError("HOST_FORMAT_INVALID", message, { path: "devices.list" });
    }
    const [, type, major = "", minor = "", permissions = ""] = match;
    if (type !== "b" && type !== "c") continue;
    rules.push({ type, major: number(major), minor: number(minor), permissions, allow: true });
  }
  return rules;
}

function number(text: string): number {
  return text === "*" ? anyNumber : Number(text);
}

/** One write to a v1 device file. */
export interface DeviceFileWrite {
  readonly file: "devices.allow" | "devices.deny";
  readonly value: string;
}

/** Formats a rule for v1's device files. Throws if the rule is out of range. */
export function formatDeviceRule(rule: DeviceRule): string {
  const { type, major, minor, permissions } = checkDeviceRule(rule);
  const text = (value: number): string => (value === anyNumber ? "*" : String(value));
  return `${type} ${text(major)}:${text(minor)} ${permissions}`;
}

/**
 * The writes that turn the rules in force into the wanted ones, and nothing else. v1 has no atomic
 * replacement, so a rule that stays is never withdrawn in between. All grants come first, then all
 * withdrawals. A rule that grants more than is wanted loses the difference.
 */
export function planDeviceFiles(
  current: readonly DeviceRule[],
  wanted: readonly DeviceRule[],
): DeviceFileWrite[] {
  const before = accessByDevice(current);
  const after = accessByDevice(wanted);
  const grants: DeviceFileWrite[] = [];
  const withdrawals: DeviceFileWrite[] = [];
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    const [had = "", has = ""] = [before.get(key), after.get(key)];
    const gained = without(has, had);
    const lost = without(had, has);
    if (gained !== "") grants.push({ file: "devices.allow", value: `${key} ${gained}` });
    if (lost !== "") withdrawals.push({ file: "devices.deny", value: `${key} ${lost}` });
  }
  return [...grants, ...withdrawals];
}

function accessByDevice(rules: readonly DeviceRule[]): Map<string, string> {
  const access = new Map<string, string>();
  for (const rule of rules) {
    const [type, numbers] = formatDeviceRule(rule).split(" ");
    const key = `${type} ${numbers}`;
    const old = access.get(key) ?? "";
    access.set(
      key,
      rule.allow ? old + without(rule.permissions, old) : without(old, rule.permissions),
    );
  }
  return access;
}

function without(letters: string, others: string): string {
  return [...letters].filter((letter) => !others.includes(letter)).join("");
}

/** Applies these rules, and no others, to a v1 devices cgroup. */
export function setV1DeviceRules(cgroup: Cgroup, wanted: readonly DeviceRule[]): void {
  const list = cgroup.read("devices.list");
  const allowsAll = list.split("\n").includes("a *:* rwm");
  if (allowsAll) cgroup.write("devices.deny", "a");
  const current = allowsAll ? [] : parseDevicesList(list);
  for (const { file, value } of planDeviceFiles(current, wanted)) cgroup.write(file, value);
}
