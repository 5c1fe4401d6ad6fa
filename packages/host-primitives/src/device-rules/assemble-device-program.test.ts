import fc from "fast-check";
import { expect, test } from "vitest";
import {
  assembleDeviceProgram,
  type BpfInstruction,
  encodeInstructions,
} from "./assemble-device-program.ts";
import type { DeviceRule } from "./device-rule.ts";

interface Access {
  readonly type: "b" | "c";
  readonly major: number;
  readonly minor: number;
  /** Bits: 1 create node, 2 read, 4 write. */
  readonly access: number;
}

/** Runs a device program as the kernel would, for the few instructions that it uses. */
function interpret(program: readonly BpfInstruction[], request: Access): number {
  const words = new Map([
    [0, (request.access << 16) | (request.type === "b" ? 1 : 2)],
    [4, request.major],
    [8, request.minor],
  ]);
  const registers = new Array<number>(11).fill(0);
  for (let at = 0; ; at++) {
    const {
      opcode,
      destination = 0,
      source = 0,
      offset = 0,
      immediate = 0,
    } = program[at] as BpfInstruction;
    const value = registers[destination] as number;
    switch (opcode) {
      case 0x61:
        registers[destination] = words.get(offset) as number;
        break;
      case 0xb7:
        registers[destination] = immediate;
        break;
      case 0xbf:
        registers[destination] = registers[source] as number;
        break;
      case 0x57:
        registers[destination] = value & immediate;
        break;
      case 0xa7:
        registers[destination] = value ^ immediate;
        break;
      case 0x4f:
        registers[destination] = value | (registers[source] as number);
        break;
      case 0x67:
        registers[destination] = value << immediate;
        break;
      case 0x77:
        registers[destination] = value >>> immediate;
        break;
      case 0x17:
        registers[destination] = value - immediate;
        break;
      case 0x25:
        // Unsigned: a difference below zero is a very large number.
        if (value < 0 || value > immediate) at += offset;
        break;
      case 0x55:
        if (value !== immediate) at += offset;
        break;
      case 0x45:
        if (value & immediate) at += offset;
        break;
      case 0x05:
        at += offset;
        break;
      case 0x95:
        return registers[0] as number;
      default:
        throw new Error(`unknown instruction: ${opcode}`);
    }
  }
}

const letters = { m: 1, r: 2, w: 4 } as const;

/** What v1 does: rules are written one after the other, and the last rule for a letter wins. */
function reference(rules: readonly DeviceRule[], request: Access): boolean {
  let granted = 0;
  for (const { type, major, minor, permissions, allow } of rules) {
    if (type !== request.type) continue;
    if (major !== -1 && major !== request.major) continue;
    if (minor !== -1 && minor !== request.minor) continue;
    for (const letter of permissions as Iterable<keyof typeof letters>) {
      granted = allow ? granted | letters[letter] : granted & ~letters[letter];
    }
  }
  return (request.access & ~granted) === 0;
}

const number = fc.integer({ min: -1, max: 2 });
const rules = fc.array(
  fc.record({
    type: fc.constantFrom("b" as const, "c" as const),
    major: number,
    minor: number,
    permissions: fc.constantFrom("r", "w", "m", "rw", "rm", "wm", "rwm"),
    allow: fc.boolean(),
  }),
  { maxLength: 8 },
);
const access = fc.record({
  type: fc.constantFrom("b" as const, "c" as const),
  major: fc.integer({ min: 0, max: 2 }),
  minor: fc.integer({ min: 0, max: 2 }),
  access: fc.integer({ min: 1, max: 7 }),
});

test("the program decides like rules that are written one after the other", () => {
  fc.assert(
    fc.property(rules, access, (list, request) => {
      const verdict = interpret(assembleDeviceProgram(list), request);
      expect(verdict).toBe(reference(list, request) ? 1 : 0);
    }),
    { numRuns: 2000 },
  );
});

test("detects a program that ignores the order of the rules", () => {
  const outcome = fc.check(
    fc.property(rules, access, (list, request) => {
      const verdict = interpret(assembleDeviceProgram([...list].reverse()), request);
      return verdict === (reference(list, request) ? 1 : 0);
    }),
    { numRuns: 2000 },
  );
  expect(outcome.failed).toBe(true);
});

test("an empty rule list denies everything", () => {
  const request = { type: "c", major: 1, minor: 3, access: 2 } as const;
  expect(interpret(assembleDeviceProgram([]), request)).toBe(0);
});

test("joins rules of neighbouring majors for any minor into one comparison", () => {
  const terminals = [136, 137, 138].map(
    (major): DeviceRule => ({ type: "c", major, minor: -1, permissions: "rwm", allow: true }),
  );
  const program = assembleDeviceProgram(terminals);
  expect(program.length).toBe(assembleDeviceProgram(terminals.slice(0, 1)).length);
  const verdict = (type: "b" | "c", major: number) =>
    interpret(program, { type, major, minor: 7, access: 6 });
  expect([135, 136, 138, 139].map((major) => verdict("c", major))).toEqual([0, 1, 1, 0]);
  expect(verdict("b", 137)).toBe(0);
});

test("encodes an instruction as eight bytes: code, registers, offset, immediate", () => {
  const program = [{ opcode: 0x55, destination: 4, source: 1, offset: -2, immediate: 200 }];
  expect(encodeInstructions(program).toString("hex")).toBe("5514feffc8000000");
});

test("rejects more rules than fit", () => {
  const rule: DeviceRule = { type: "b", major: 1, minor: 1, permissions: "r", allow: true };
  expect(() => assembleDeviceProgram(new Array(600).fill(rule))).toThrow(
    expect.objectContaining({ code: "HOST_LIMIT_EXCEEDED" }),
  );
});
