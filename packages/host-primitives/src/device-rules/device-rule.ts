import { HostError } from "../host-error.ts";

/** Matches any major or minor number. */
export const anyNumber = -1;

/** Access to devices for the tasks of a cgroup. */
export interface DeviceRule {
  /** Block or character device. */
  readonly type: "b" | "c";
  /** -1 means any. */
  readonly major: number;
  readonly minor: number;
  /** Letters for `r`ead, `w`rite and `m`ake node. */
  readonly permissions: string;
  readonly allow: boolean;
}

/** The cgroup version that the rules are for; a hybrid host has both. */
export type DeviceRuleVersion = "v1" | "v2";

/** Checks a rule from outside. Throws `HOST_ARGUMENT_INVALID` with the invalid field. */
export function checkDeviceRule(rule: DeviceRule): DeviceRule {
  const { type, major, minor, permissions } = rule;
  if (type !== "b" && type !== "c") refuse(rule, "type", '"b" or "c"');
  if (!isNumber(major, 0xfff)) refuse(rule, "major", "-1 or 0 to 4095");
  if (!isNumber(minor, 0xfffff)) refuse(rule, "minor", "-1 or 0 to 1048575");
  if (!areLetters(permissions)) refuse(rule, "permissions", "letters of rwm, each at most once");
  return rule;
}

function isNumber(value: number, max: number): boolean {
  return Number.isInteger(value) && value >= anyNumber && value <= max;
}

function areLetters(permissions: string): boolean {
  if (permissions === "rwm") return true;
  return /^[rwm]{1,3}$/.test(permissions) && new Set(permissions).size === permissions.length;
}

function refuse(rule: DeviceRule, field: keyof DeviceRule, use: string): never {
  const message = `${field} of a device rule is ${JSON.stringify(rule[field])}; use ${use}`;
  throw new HostError("HOST_ARGUMENT_INVALID", message, { path: field });
}

/** v2 counts creating a node as use of the device; v1 rules need not grant it. */
export function hostDevicePermissions(version: DeviceRuleVersion): string {
  return version === "v2" ? "rwm" : "rw";
}

const alwaysAllowed: readonly (readonly [major: number, minor: number])[] = [
  [5, 2], // ptmx
  [1, 3], // null
  [10, 200], // net/tun
  [10, 238], // vhost-net
];
/** Majors of pseudoterminals, from the kernel's device list. */
const terminals = { first: 136, count: 16 };

/** Devices that every launcher may use: terminals, null, tun and vhost-net. */
export function defaultDeviceRules(version: DeviceRuleVersion): DeviceRule[] {
  const permissions = hostDevicePermissions(version);
  const allow = (major: number, minor: number): DeviceRule => ({
    type: "c",
    major,
    minor,
    permissions,
    allow: true,
  });
  return [
    ...alwaysAllowed.map(([major, minor]) => allow(major, minor)),
    ...Array.from({ length: terminals.count }, (_, n) => allow(terminals.first + n, anyNumber)),
  ];
}

function sameDevice(a: DeviceRule, b: DeviceRule): boolean {
  return a.type === b.type && a.major === b.major && a.minor === b.minor;
}

/**
 * The rules in force after a request: first the requested rules, then the earlier ones for other
 * devices, each device once.
 */
export function mergeDeviceRules(
  current: readonly DeviceRule[],
  requested: readonly DeviceRule[],
): DeviceRule[] {
  const merged = [...requested];
  for (const rule of current) {
    if (!merged.some((other) => sameDevice(rule, other))) merged.push(rule);
  }
  return merged;
}

/**
 * The list to apply on v1: the request, the defaults, then the rules in force. If `current` is
 * undefined, the rules in force are unknown and no duplicates are dropped.
 */
export function deviceRulesForV1(
  current: readonly DeviceRule[] | undefined,
  requested: readonly DeviceRule[],
): DeviceRule[] {
  const wanted = [...requested, ...defaultDeviceRules("v1")];
  return current === undefined ? wanted : mergeDeviceRules(current, wanted);
}

/**
 * The initial list on v2, where the rules in force cannot be read back: what the host's own devices
 * need, then the defaults. Each request is then merged over the previous result.
 */
export function initialDeviceRulesForV2(ofMachine: readonly DeviceRule[]): DeviceRule[] {
  return [...ofMachine, ...defaultDeviceRules("v2")];
}
