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
 * r1 is the kernel's context. r3: what is still to be granted; r4: the device's kind in its upper
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

/** The kernel's limit for programs of unprivileged users; far above what rules need. */
const maxInstructions = 4096;

function accessBits(permissions: string): number {
  let bits = 0;
  for (const letter of permissions) bits |= accessBit[letter] ?? 0;
  return bits;
}

function verdict(allow: boolean): BpfInstruction[] {
  return [
    { opcode: opcode.moveImmediate, destination: register.verdict, immediate: allow ? 1 : 0 },
    { opcode: opcode.exit },
  ];
}

/** Sets `destination` to 0 exactly where `source`, without its lowest bits, is `value`. */
function compare(
  destination: number,
  source: number,
  value: number,
  ignored = 0,
): BpfInstruction[] {
  return [
    { opcode: opcode.moveRegister, destination, source },
    ...(ignored ? [{ opcode: opcode.shiftRight, destination, immediate: ignored }] : []),
    { opcode: opcode.xorImmediate, destination, immediate: value },
  ];
}

/** A rule, and how many majors after its own it is for as well; only where it is for any minor. */
interface RangeRule extends DeviceRule {
  readonly more: number;
}

/** Joins rules for neighbouring majors, as those for terminals are, into one. */
function joinMajors(rules: readonly DeviceRule[]): RangeRule[] {
  const joined: RangeRule[] = [];
  for (const rule of rules) {
    const last = joined.at(-1);
    if (last && continues(last, rule)) joined[joined.length - 1] = { ...last, more: last.more + 1 };
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
 * Skips the next `rest` instructions where the device is not the rule's. One jump on a computed
 * difference: jumps on the numbers themselves would teach the kernel's verifier their values, and it
 * would check everything that follows once for each, which takes milliseconds with a hundred rules.
 */
function guard({ type, major, minor, more }: RangeRule, rest: number): BpfInstruction[] {
  const kind = deviceType[type];
  const { difference: destination, other } = register;
  const skip = { destination, offset: rest };
  if (more > 0) {
    return [
      { opcode: opcode.moveRegister, destination, source: register.major },
      { opcode: opcode.subtractImmediate, destination, immediate: (kind << typeShift) | major },
      { opcode: opcode.jumpGreater, ...skip, immediate: more },
    ];
  }
  const ofMajor =
    major === anyNumber
      ? compare(destination, register.major, kind, typeShift)
      : compare(destination, register.major, (kind << typeShift) | major);
  const ofMinor =
    minor === anyNumber
      ? []
      : [
          ...compare(other, register.minor, minor),
          { opcode: opcode.orRegister, destination, source: other },
        ];
  return [...ofMajor, ...ofMinor, { opcode: opcode.jumpNotEqual, ...skip, immediate: 0 }];
}

function block(rule: RangeRule): BpfInstruction[] {
  const bits = accessBits(rule.permissions);
  // A rule for everything settles whatever is left; most are such, and the kernel checks less code.
  if (rule.allow && bits === allBits) return [...guard(rule, 2), ...verdict(true)];
  const body: BpfInstruction[] = rule.allow
    ? [
        // What this rule grants is settled; where nothing is left the access is allowed.
        { opcode: opcode.andImmediate, destination: register.access, immediate: ~bits & allBits },
        { opcode: opcode.jumpNotEqual, destination: register.access, immediate: 0, offset: 2 },
        ...verdict(true),
      ]
    : [
        // One letter that is denied denies the access.
        { opcode: opcode.jumpBitsSet, destination: register.access, immediate: bits, offset: 1 },
        { opcode: opcode.jump, offset: 2 },
        ...verdict(false),
      ];
  return [...guard(rule, body.length), ...body];
}

/**
 * The device filter of a rule list, for `BPF_PROG_TYPE_CGROUP_DEVICE`.
 *
 * Later rules win, letter by letter, as on v1 where they are written one after the other: the
 * program goes through them from the last, takes off the letters that an allowing rule grants, and
 * stops at the first denying rule that has one of those left. What no rule grants is denied.
 */
export function assembleDeviceProgram(rules: readonly DeviceRule[]): BpfInstruction[] {
  const { context, access, major, minor, other } = register;
  const load = (destination: number, offset: number): BpfInstruction => ({
    opcode: opcode.load32,
    destination,
    source: context,
    offset,
  });
  const program: BpfInstruction[] = [
    // The first word holds the kind in its lower half and the wanted access in its upper one.
    load(access, contextOffset.access),
    load(major, contextOffset.major),
    load(minor, contextOffset.minor),
    { opcode: opcode.moveRegister, destination: other, source: access },
    { opcode: opcode.andImmediate, destination: other, immediate: 0xffff },
    { opcode: opcode.shiftLeft, destination: other, immediate: typeShift },
    { opcode: opcode.orRegister, destination: major, source: other },
    { opcode: opcode.shiftRight, destination: access, immediate: 16 },
    ...joinMajors(rules).reverse().flatMap(block),
    ...verdict(false),
  ];
  if (program.length <= maxInstructions) return program;
  const message = `${rules.length} device rules make ${program.length} instructions; at most ${maxInstructions} fit`;
  throw new HostError("HOST_LIMIT_EXCEEDED", message, { path: "rules" });
}

/** Instructions as the kernel takes them, eight bytes each. */
export function encodeInstructions(program: readonly BpfInstruction[]): Buffer {
  const bytes = Buffer.alloc(8 * program.length);
  for (const [index, instruction] of program.entries()) {
    const { opcode: code, destination = 0, source = 0, offset = 0, immediate = 0 } = instruction;
    bytes.writeUInt8(code, 8 * index);
    bytes.writeUInt8((source << 4) | destination, 8 * index + 1);
    bytes.writeInt16LE(offset, 8 * index + 2);
    bytes.writeInt32LE(immediate, 8 * index + 4);
  }
  return bytes;
}
