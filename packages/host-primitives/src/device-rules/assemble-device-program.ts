import { HostError } from "../host-error.ts";
import { anyNumber, checkDeviceRule, type DeviceRule } from "./device-rule.ts";

/** One BPF instruction before it is encoded. */
export interface BpfInstruction {
  readonly opcode: number;
  readonly destination?: number;
  readonly source?: number;
  readonly offset?: number;
  readonly immediate?: number;
}

const opcode = {
  load32: 0x61,
  moveImmediate: 0xb7,
  moveRegister: 0xbf,
  andImmediate: 0x57,
  xorImmediate: 0xa7,
  subtractImmediate: 0x17,
  orRegister: 0x4f,
  shiftLeft: 0x67,
  shiftRight: 0x77,
  jump: 0x05,
  jumpNotEqual: 0x55,
  jumpGreater: 0x25,
  jumpBitsSet: 0x45,
  exit: 0x95,
} as const;

/**
 * r1 is the kernel's context. r3: what still has to be granted; r4: the device's type in the upper
 * byte and the major number below; r5: the minor number. r6 and r7 are for comparisons.
 */
const register = {
  verdict: 0,
  context: 1,
  access: 3,
  major: 4,
  minor: 5,
  difference: 6,
  other: 7,
} as const;
const contextOffset = { access: 0, major: 4, minor: 8 } as const;
const typeShift = 24;
const deviceType = { b: 1, c: 2 } as const;
const accessBit: Readonly<Record<string, number>> = { m: 1, r: 2, w: 4 };
const allBits = 7;

/** The kernel's limit for programs of unprivileged users, far above what rules need. */
const maxInstructions = 4096;

function accessBits(permissions: string): number {
  let bits = 0;
  for (const letter of permissions) bits |= accessBit[letter] ?? 0;
  return bits;
}

type Program = BpfInstruction[];

function pushVerdict(program: Program, allow: boolean): void {
  const immediate = allow ? 1 : 0;
  program.push(
    { opcode: opcode.moveImmediate, destination: register.verdict, immediate },
    { opcode: opcode.exit },
  );
}

/** Sets `destination` to 0 if and only if `source` equals `value`. */
function pushDifference(
  program: Program,
  destination: number,
  source: number,
  value: number,
): void {
  program.push(
    { opcode: opcode.moveRegister, destination, source },
    { opcode: opcode.xorImmediate, destination, immediate: value },
  );
}

/** A rule, and how many further majors it covers; only for rules that match any minor. */
interface RangeRule extends DeviceRule {
  more: number;
}

/** Joins rules for neighbouring majors, such as those for terminals, into one. */
function joinMajors(rules: readonly DeviceRule[]): RangeRule[] {
  const joined: RangeRule[] = [];
  for (const rule of rules) {
    const last = joined.at(-1);
    if (last && continues(last, rule)) last.more++;
    else joined.push({ ...checkDeviceRule(rule), more: 0 });
  }
  return joined;
}

function continues(last: RangeRule, rule: DeviceRule): boolean {
  const { type, major, minor, permissions, allow } = rule;
  return (
    last.minor === anyNumber &&
    minor === anyNumber &&
    last.major !== anyNumber &&
    major === last.major + last.more + 1 &&
    last.type === type &&
    last.permissions === permissions &&
    last.allow === allow
  );
}

/**
 * Skips the next `rest` instructions unless the device matches the rule. It uses one jump on a
 * computed difference. Jumps on the numbers themselves would teach the kernel's verifier their
 * values, and it would check all that follows once per value, which takes milliseconds with a
 * hundred rules.
 */
function pushGuard(program: Program, { type, major, minor, more }: RangeRule, rest: number): void {
  const kind = deviceType[type];
  const { difference: destination, other, major: source } = register;
  if (more > 0) {
    const first = (kind << typeShift) | major;
    program.push(
      { opcode: opcode.moveRegister, destination, source },
      { opcode: opcode.subtractImmediate, destination, immediate: first },
      { opcode: opcode.jumpGreater, destination, immediate: more, offset: rest },
    );
    return;
  }
  if (major === anyNumber) {
    program.push(
      { opcode: opcode.moveRegister, destination, source },
      { opcode: opcode.shiftRight, destination, immediate: typeShift },
      { opcode: opcode.xorImmediate, destination, immediate: kind },
    );
  } else {
    pushDifference(program, destination, source, (kind << typeShift) | major);
  }
  if (minor !== anyNumber) {
    pushDifference(program, other, register.minor, minor);
    program.push({ opcode: opcode.orRegister, destination, source: other });
  }
  program.push({ opcode: opcode.jumpNotEqual, destination, immediate: 0, offset: rest });
}

function pushRule(program: Program, rule: RangeRule): void {
  const { access: destination } = register;
  const bits = accessBits(rule.permissions);
  if (!rule.allow) {
    // One denied letter denies the access.
    pushGuard(program, rule, 4);
    program.push(
      { opcode: opcode.jumpBitsSet, destination, immediate: bits, offset: 1 },
      { opcode: opcode.jump, offset: 2 },
    );
  } else if (bits === allBits) {
    // A rule for all letters settles whatever is left. Most rules do, and the kernel then checks
    // less code.
    pushGuard(program, rule, 2);
  } else {
    // What this rule grants is settled; if nothing is left, the access is allowed.
    pushGuard(program, rule, 4);
    program.push(
      { opcode: opcode.andImmediate, destination, immediate: ~bits & allBits },
      { opcode: opcode.jumpNotEqual, destination, immediate: 0, offset: 2 },
    );
  }
  pushVerdict(program, rule.allow);
}

/**
 * The device filter of a rule list, for `BPF_PROG_TYPE_CGROUP_DEVICE`.
 *
 * Later rules win, letter by letter, as on v1, where rules are written one after the other. The
 * program goes through them from the last to the first, removes the letters that an allow rule
 * grants, and stops at the first deny rule that has one of the remaining letters. What no rule
 * grants is denied.
 */
export function assembleDeviceProgram(rules: readonly DeviceRule[]): BpfInstruction[] {
  const { context, access, major, minor, other } = register;
  const load = (destination: number, offset: number): BpfInstruction => ({
    opcode: opcode.load32,
    destination,
    source: context,
    offset,
  });
  const program: Program = [
    // The first word holds the type in its lower half and the requested access in its upper half.
    load(access, contextOffset.access),
    load(major, contextOffset.major),
    load(minor, contextOffset.minor),
    { opcode: opcode.moveRegister, destination: other, source: access },
    { opcode: opcode.andImmediate, destination: other, immediate: 0xffff },
    { opcode: opcode.shiftLeft, destination: other, immediate: typeShift },
    { opcode: opcode.orRegister, destination: major, source: other },
    { opcode: opcode.shiftRight, destination: access, immediate: 16 },
  ];
  for (const rule of joinMajors(rules).reverse()) pushRule(program, rule);
  pushVerdict(program, false);
  if (program.length <= maxInstructions) return program;
  const message = `${rules.length} device rules make ${program.length} instructions; at most ${maxInstructions} fit`;
  throw new HostError("HOST_LIMIT_EXCEEDED", message, { path: "rules" });
}

/** Encodes instructions for the kernel: two words each, in the host's byte order. */
export function encodeInstructions(program: readonly BpfInstruction[]): Buffer {
  const words = new Int32Array(2 * program.length);
  let at = 0;
  for (const { opcode: code, destination = 0, source = 0, offset = 0, immediate = 0 } of program) {
    words[at++] = code | (destination << 8) | (source << 12) | (offset << 16);
    words[at++] = immediate;
  }
  return Buffer.from(words.buffer);
}
