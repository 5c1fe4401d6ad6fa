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
  andImmediate32: 0x54,
  andImmediate: 0x57,
  shiftRight: 0x77,
  jumpNotEqual: 0x55,
  jump: 0x05,
  jumpBitsSet: 0x45,
  exit: 0x95,
} as const;

/** r1 is the kernel's context; r2 the kind of device, r3 what is still to be granted, r4 and r5 its numbers. */
const register = { verdict: 0, context: 1, type: 2, access: 3, major: 4, minor: 5 } as const;
const contextOffset = { access: 0, major: 4, minor: 8 } as const;
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

/** Checks of a rule's device; each jumps over `rest` instructions and the checks after it where it fails. */
function guard(rule: DeviceRule, rest: number): BpfInstruction[] {
  const conditions: (readonly [register: number, value: number])[] = [
    [register.type, deviceType[rule.type]],
  ];
  if (rule.major !== anyNumber) conditions.push([register.major, rule.major]);
  if (rule.minor !== anyNumber) conditions.push([register.minor, rule.minor]);
  return conditions.map(([destination, immediate], index) => ({
    opcode: opcode.jumpNotEqual,
    destination,
    immediate,
    offset: conditions.length - 1 - index + rest,
  }));
}

function block(rule: DeviceRule): BpfInstruction[] {
  const bits = accessBits(checkDeviceRule(rule).permissions);
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
  const { context, type, access, major, minor } = register;
  const load = (destination: number, offset: number): BpfInstruction => ({
    opcode: opcode.load32,
    destination,
    source: context,
    offset,
  });
  const program: BpfInstruction[] = [
    // The first word holds the kind in its lower half and the wanted access in its upper one.
    load(type, contextOffset.access),
    { opcode: opcode.moveRegister, destination: access, source: type },
    { opcode: opcode.andImmediate32, destination: type, immediate: 0xffff },
    { opcode: opcode.shiftRight, destination: access, immediate: 16 },
    load(major, contextOffset.major),
    load(minor, contextOffset.minor),
    ...[...rules].reverse().flatMap(block),
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
