import { isObject, objects } from "@virtkit/api/shape";
import type { CallOutcome, LauncherCall } from "./launcher-call.ts";

/** An event that a request leaves on its VMI. */
export interface RequestEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

/** What the caller gets. */
export interface NodeAnswer {
  readonly code: number;
  /** If absent, there is no body. */
  readonly contentType?: string;
  readonly body?: string | Uint8Array;
  readonly events: readonly RequestEvent[];
}

interface VerbAnswers {
  readonly success: 200 | 202;
  readonly failure: 400 | 500 | 503;
  /** Reported on the VMI if it succeeds. */
  readonly event?: { readonly reason: string; readonly message: string };
  /** Reported on the VMI if it fails. */
  readonly warning?: string;
  readonly body?: (value: unknown) => unknown;
}

const told = (reason: string, what: string): NonNullable<VerbAnswers["event"]> => ({
  reason,
  message: `The guest ${what}`,
});

/** Codes, reasons and bodies as KubeVirt has them. */
const answers: Readonly<Record<LauncherCall["verb"], VerbAnswers>> = {
  pause: { success: 202, failure: 500, event: told("Paused", "was paused") },
  unpause: { success: 202, failure: 500, event: told("Unpaused", "was unpaused") },
  softReboot: { success: 202, failure: 500, event: told("SoftRebooted", "was asked to reboot") },
  reset: { success: 202, failure: 500, event: told("Reset", "was reset") },
  freeze: { success: 202, failure: 400, warning: "FreezeError" },
  unfreeze: { success: 202, failure: 400 },
  backup: { success: 202, failure: 400, warning: "BackupError" },
  redefineCheckpoint: { success: 200, failure: 503 },
  screenshot: { success: 200, failure: 500 },
  guestInfo: { success: 200, failure: 500, body: guestInfoBody },
  users: { success: 200, failure: 500, body: listBody },
  fileSystems: { success: 200, failure: 500, body: listBody },
  sevInfo: { success: 200, failure: 500, body: sevBody },
  launchMeasurement: { success: 200, failure: 500, body: sevBody },
  injectLaunchSecret: { success: 202, failure: 500 },
};

/** The answer to a request whose call has ended. */
export function answerCall({ verb }: LauncherCall, outcome: CallOutcome): NodeAnswer {
  const { success, failure, event, warning, body } = answers[verb];
  if (!outcome.done) {
    const { message, invalid } = outcome;
    const events: RequestEvent[] = warning ? [{ type: "Warning", reason: warning, message }] : [];
    return { ...failed(verb === "redefineCheckpoint" && invalid ? 422 : failure, message), events };
  }
  const events: RequestEvent[] = event ? [{ type: "Normal", ...event }] : [];
  if (verb === "screenshot") return { code: success, ...picture(outcome.value), events };
  if (!body) return { code: success, events };
  const value = body(outcome.value);
  if (value === undefined) return failed(failure, `${verb}: the launcher's answer is empty`);
  return { code: success, contentType: "application/json", body: JSON.stringify(value), events };
}

/** An answer without a guest: the text says what is wrong. */
export function failed(code: number, message: string): NodeAnswer {
  return { code, contentType: "text/plain; charset=utf-8", body: `${message}\n`, events: [] };
}

function picture(value: unknown): Pick<NodeAnswer, "contentType" | "body"> {
  const { mime, data } = Object(value) as { mime?: string; data?: Uint8Array };
  return data && data.length > 0 ? { contentType: mime ?? "image/png", body: data } : {};
}

function guestInfoBody(value: unknown): unknown {
  const { os, fsInfo, ...rest } = Object(value) as Record<string, unknown>;
  const disks = isObject(fsInfo) ? (fsInfo["disks"] ?? null) : null;
  return { ...rest, os: os ?? {}, fsInfo: { disks } };
}

function listBody(value: unknown): unknown {
  return { metadata: {}, items: value === undefined ? null : objects(value) };
}

function sevBody(value: unknown): unknown {
  return isObject(value) ? value : undefined;
}
