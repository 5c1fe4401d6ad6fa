import { constants, writeFile } from "node:fs/promises";
import type { DomainStatus, GuestEnd } from "@virtkit/domain-manager";

/** How a guest's life in a launcher ended. */
export interface Ending {
  /** Whether the guest had to be killed, and who asked for that. */
  readonly how:
    | "guest-ended"
    | "shut-down"
    | "killed-after-grace"
    | "liveness-failed"
    | "never-ran"
    | "launcher-failed";
  readonly status?: DomainStatus | undefined;
  /** If there was a guest: how it ended. */
  readonly end?: GuestEnd;
  /** Why the launcher failed, or the last check of the liveness probe. */
  readonly error?: string | undefined;
}

/** The kubelet accepts 4096 bytes. */
const most = 4_096;

const sentences: Readonly<Record<Ending["how"], string>> = {
  "guest-ended": "The guest ended by itself.",
  "shut-down": "The guest shut down as requested.",
  "killed-after-grace": "The guest did not shut down within its grace period and was killed.",
  "liveness-failed": "The guest was ended because its liveness probe failed.",
  "never-ran": "No guest was started.",
  "launcher-failed": "The launcher failed.",
};

/** The message for people and programs in the Pod's status: one line of text, one of JSON. */
export function terminationMessage({ how, status, end, error }: Ending): string {
  const facts = {
    how,
    ...(status ? { state: status.state, reason: status.reason } : {}),
    ...(end ? { end: { ...end, message: end.message.slice(0, 512) } } : {}),
    ...(error === undefined ? {} : { error: error.slice(0, 2_048) }),
  };
  const sentence =
    how === "guest-ended" && end ? `The guest ended: ${facts.end?.message}.` : sentences[how];
  const text = error === undefined ? sentence : `${sentence} ${error.slice(0, 1_024)}`;
  const message = Buffer.from(`${text}\n${JSON.stringify(facts)}\n`);
  return message.length <= most ? message.toString() : `${sentences[how]}\n`;
}

/** Leaves the message where the kubelet looks for it; a missing place is not a failure. */
export async function leaveTerminationMessage(path: string, ending: Ending): Promise<boolean> {
  try {
    const { O_WRONLY, O_TRUNC, O_CREAT } = constants;
    // If the kubelet created no file, nobody reads one, and a plain file in /dev is a trap for
    // later.
    const create = path.startsWith("/dev/") ? 0 : O_CREAT;
    await writeFile(path, terminationMessage(ending), { flag: O_WRONLY | O_TRUNC | create });
    return true;
  } catch {
    // The caller learns of it and continues: nothing depends on it.
    return false;
  }
}
