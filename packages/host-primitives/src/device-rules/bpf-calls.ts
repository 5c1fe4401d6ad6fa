import { addressOf, cString, done, foreign } from "../ffi/foreign.ts";
import { syscallNumber } from "../ffi/syscall-numbers.ts";
import { HostError, isHostError } from "../host-error.ts";

// Needed: device rules of cgroup v2 are BPF programs; there is no file for them, and Node has no
// bpf.
// Safe: the attribute buffer has the size that is passed, and the caller holds everything that it
// points to until the call returns.
const nativeBpf = foreign("long", "syscall", ["long", "int", "buffer", "uint"]);

const command = { load: 5, attach: 8, detach: 9, query: 16, fdById: 13, info: 15 } as const;
const deviceProgram = 15;
const deviceAttachment = 6;
const allowMulti = 2;
const replace = 4;

function bpf(number: number, attributes: Buffer, touched: string): number {
  return done(
    nativeBpf(syscallNumber("bpf"), number, attributes, attributes.length),
    "bpf",
    touched,
  );
}

/**
 * The verifier gives up with EAGAIN when a signal arrives. More attempts than this mean another
 * cause.
 */
const maxLoadTries = 16;

function untilVerified(load: () => number): number {
  for (let tries = 1; ; tries++) {
    try {
      return load();
    } catch (error) {
      if (!isHostError(error) || error.errno !== "EAGAIN" || tries >= maxLoadTries) throw error;
    }
  }
}

/**
 * Loads a device filter. If the kernel's verifier refuses it, the error message ends with the
 * verifier's log.
 */
export function loadDeviceProgram(instructions: Buffer, name: string): number {
  const license = cString("Apache-2.0", "license");
  const log = Buffer.alloc(16_384);
  const load = (withLog: boolean): number => {
    const attributes = Buffer.alloc(128);
    attributes.writeUInt32LE(deviceProgram, 0);
    attributes.writeUInt32LE(instructions.length / 8, 4);
    attributes.writeBigUInt64LE(addressOf(instructions), 8);
    attributes.writeBigUInt64LE(addressOf(license), 16);
    if (withLog) {
      attributes.writeUInt32LE(1, 24);
      attributes.writeUInt32LE(log.length, 28);
      attributes.writeBigUInt64LE(addressOf(log), 32);
    }
    attributes.write(name, 48, 15, "latin1");
    return untilVerified(() => bpf(command.load, attributes, `program ${name}`));
  };
  try {
    return load(false);
  } catch (error) {
    if (!isHostError(error) || (error.errno !== "EINVAL" && error.errno !== "EACCES")) throw error;
    return explain(error, () => load(true), log);
  }
}

function explain(cause: HostError, retry: () => number, log: Buffer): number {
  try {
    return retry();
  } catch {
    const text = log.toString("latin1", 0, log.indexOf(0)).trim();
    const { path = "program", errno = "EINVAL" } = cause;
    const message = `the kernel refuses the device program (${errno}): ${text}`;
    throw new HostError("HOST_SYSCALL_FAILED", message, { path, errno, syscall: "bpf", cause });
  }
}

/** Attaches a program beside those of others; with `old`, replaces that one atomically. */
export function attachDeviceProgram(
  cgroup: number,
  program: number,
  old: number | undefined,
  touched: string,
): void {
  const attributes = Buffer.alloc(32);
  attributes.writeUInt32LE(cgroup, 0);
  attributes.writeUInt32LE(program, 4);
  attributes.writeUInt32LE(deviceAttachment, 8);
  attributes.writeUInt32LE(old === undefined ? allowMulti : allowMulti | replace, 12);
  attributes.writeUInt32LE(old ?? 0, 16);
  bpf(command.attach, attributes, touched);
}

export function detachDeviceProgram(cgroup: number, program: number, touched: string): void {
  const attributes = Buffer.alloc(32);
  attributes.writeUInt32LE(cgroup, 0);
  attributes.writeUInt32LE(program, 4);
  attributes.writeUInt32LE(deviceAttachment, 8);
  bpf(command.detach, attributes, touched);
}

/** The most programs that one cgroup can have. */
const maxPrograms = 64;

/**
 * IDs of the device filters that are attached to the cgroup itself, in the order in which they run.
 */
export function attachedPrograms(cgroup: number, touched: string): number[] {
  const ids = new Uint32Array(maxPrograms);
  const attributes = Buffer.alloc(64);
  attributes.writeUInt32LE(cgroup, 0);
  attributes.writeUInt32LE(deviceAttachment, 4);
  attributes.writeBigUInt64LE(addressOf(ids), 16);
  attributes.writeUInt32LE(ids.length, 24);
  bpf(command.query, attributes, touched);
  return [...ids.subarray(0, attributes.readUInt32LE(24))];
}

/** A descriptor of a loaded program. */
export function openProgram(id: number): number {
  const attributes = Buffer.alloc(16);
  attributes.writeUInt32LE(id, 0);
  return bpf(command.fdById, attributes, `program ${id}`);
}

const nameOffset = 64;

/** Name that a program was loaded with. */
export function programName(program: number, touched: string): string {
  const info = Buffer.alloc(256);
  const attributes = Buffer.alloc(16);
  attributes.writeUInt32LE(program, 0);
  attributes.writeUInt32LE(info.length, 4);
  attributes.writeBigUInt64LE(addressOf(info), 8);
  bpf(command.info, attributes, touched);
  const end = info.indexOf(0, nameOffset);
  return info.toString("latin1", nameOffset, Math.min(end, nameOffset + 16));
}
