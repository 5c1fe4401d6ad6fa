import { closeSync, constants, openSync, readSync, writeSync } from "node:fs";
import type { GuestEnd, GuestEndKind } from "@virtkit/domain-manager";
import { localNames } from "./local-names.ts";

/** What was recorded about a launcher's end, or its guest's. */
export interface EndNote {
  /** What the launcher saw, such as `guest-ended` or `never-ran`. */
  readonly how: string;
  readonly end?: GuestEnd;
  /** Why the launcher failed. */
  readonly error?: string;
}

/** Not the domain manager's own list: that would load all of it. */
const kinds: Readonly<Record<GuestEndKind, true>> = {
  PoweredOff: true,
  Stopped: true,
  Killed: true,
  Crashed: true,
  Failed: true,
};

/** Whether a string names the end of a guest. */
export function isEndKind(text: unknown): text is GuestEndKind {
  return typeof text === "string" && Object.hasOwn(kinds, text);
}

/** A launcher writes no more than a kubelet accepts. */
const most = 4_096;

/**
 * Reads how a VMI ended: its launcher's termination message, which outlives the launcher. Undefined
 * if there is none. The launcher is not trusted: reads are bounded and checked.
 */
export function readEndNote(stateDirectory: string, podUid: string): EndNote | undefined {
  const text = readStart(localNames(stateDirectory, podUid).terminationMessage);
  for (const line of text.split("\n")) {
    const note = parseEndNote(line);
    if (note) return note;
  }
  return undefined;
}

/** One line of a termination message; undefined if it is not for programs. */
export function parseEndNote(line: string): EndNote | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    // A line for people.
    return undefined;
  }
  const { how, end, error } = Object(value) as Record<keyof EndNote, unknown>;
  if (typeof how !== "string") return undefined;
  const checked = endIn(end);
  return {
    how: plain(how),
    ...(checked ? { end: checked } : {}),
    ...(typeof error === "string" ? { error: plain(error) } : {}),
  };
}

function endIn(value: unknown): GuestEnd | undefined {
  const { kind, message, at } = Object(value) as Record<keyof GuestEnd, unknown>;
  if (!isEndKind(kind) || typeof message !== "string" || typeof at !== "string") return undefined;
  return Number.isNaN(Date.parse(at)) ? undefined : { kind, message: plain(message), at };
}

/** A terminal interprets control characters. */
function plain(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, " ").trim();
}

function readStart(path: string): string {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    // Nobody has noted anything yet.
    return "";
  }
  try {
    const buffer = Buffer.alloc(most);
    return buffer.toString("utf8", 0, readSync(fd, buffer, 0, most, 0));
  } finally {
    closeSync(fd);
  }
}

/**
 * Records how a VMI ended if its launcher cannot do it any more. Call it when nothing of the VMI
 * runs. Without disk space the note is missing, which is no reason to keep a VMI.
 */
export function writeEndNote(stateDirectory: string, podUid: string, end: GuestEnd): void {
  const { O_WRONLY, O_TRUNC, O_NOFOLLOW } = constants;
  try {
    const path = localNames(stateDirectory, podUid).terminationMessage;
    const fd = openSync(path, O_WRONLY | O_TRUNC | O_NOFOLLOW);
    try {
      writeSync(fd, `${end.message}\n${JSON.stringify({ how: "ended-from-outside", end })}\n`);
    } finally {
      closeSync(fd);
    }
  } catch {
    // As above.
  }
}
