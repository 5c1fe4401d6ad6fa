import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { at } from "@virtkit/api/shape";
import { parseNodeRequest } from "@virtkit/api/subresources/node";
import {
  answerCall,
  type CallOutcome,
  failed,
  type LauncherCall,
  type NodeAnswer,
  planNodeRequest,
} from "@virtkit/node-agent/guest-server";
import type { BatchFunction } from "../batch/batch-area.ts";
import { InputError, stringField, textField } from "./input-fields.ts";
import { ignoresFailure } from "./quirks.ts";

/** The functions of area `handler-rest`. */
export const functions: Readonly<Record<string, BatchFunction>> = {
  "node-request": (input, context) => {
    const request = parseNodeRequest(stringField(input, "method"), stringField(input, "path"));
    if ("code" in request) return answered(failed(request.code, request.message));
    const vmi = at(input, "vmi") as VirtualMachineInstance | undefined;
    const plan = planNodeRequest(request, {
      nodeName: vmi?.status?.nodeName ?? "",
      vmi,
      uid: vmi?.metadata?.uid,
      body: textField(input, "body"),
    });
    // KubeVirt crashes where it does not know the VMI.
    if (plan.kind === "refused" && plan.code === 404) throw new InputError("input", plan.message);
    if (plan.kind === "refused") return answered(failed(plan.code, plan.message));
    if (plan.kind === "stream") throw new InputError("input.path", "is that of a stream");
    const launcher = at(context, "launcher");
    if (!isReachable(vmi, launcher)) return answered(failed(500, "the launcher cannot be reached"));
    const answer = answerCall(plan.call, outcomeOf(plan.call, launcher));
    return answered(answer, [callForm(plan.call)]);
  },
};

/** The stand-in for a launcher: with a socket in one of the VMI's Pods, a listener, and version 1 of the protocol. */
function isReachable(vmi: VirtualMachineInstance | undefined, launcher: unknown): boolean {
  const pods = Object.keys(vmi?.status?.activePods ?? {});
  const versions = at(launcher, "versions") ?? [1];
  return (
    pods.length > 0 &&
    at(launcher, "noSocket") !== true &&
    at(launcher, "noListener") !== true &&
    Array.isArray(versions) &&
    versions.includes(1)
  );
}

/** What the stand-in answers. Text in the launcher's raw answer that is not JSON is a failure. */
function outcomeOf({ verb }: LauncherCall, launcher: unknown): CallOutcome {
  const message = "the launcher failed";
  if (at(launcher, "rpcError") !== undefined) return { done: false, message };
  const invalid = at(launcher, "checkpointInvalid") === true;
  const fails = at(launcher, "fails") === true && !ignoresFailure(verb);
  if (fails || invalid) return { done: false, message, invalid };
  const answer = textField(launcher, "answer");
  const value = verb === "screenshot" ? picture(answer) : readAnswer(answer);
  return value instanceof SyntaxError ? { done: false, message } : { done: true, value };
}

function picture(answer: string): unknown {
  return { mime: "image/png", data: Buffer.from(answer) };
}

function readAnswer(answer: string): unknown {
  if (answer === "") return undefined;
  try {
    return JSON.parse(answer);
  } catch (error) {
    return error;
  }
}

const rpcNames: Readonly<Record<LauncherCall["verb"], string>> = {
  pause: "PauseVirtualMachine",
  unpause: "UnpauseVirtualMachine",
  freeze: "FreezeVirtualMachine",
  unfreeze: "UnfreezeVirtualMachine",
  softReboot: "SoftRebootVirtualMachine",
  reset: "ResetVirtualMachine",
  screenshot: "GetScreenshot",
  guestInfo: "GetGuestInfo",
  users: "GetUsers",
  fileSystems: "GetFilesystems",
  backup: "BackupVirtualMachine",
  redefineCheckpoint: "RedefineCheckpoint",
  sevInfo: "GetSEVInfo",
  launchMeasurement: "GetLaunchMeasurement",
  injectLaunchSecret: "InjectLaunchSecret",
};

function callForm({ verb, ...args }: LauncherCall): unknown {
  const { unfreezeAfterSeconds, ...rest } = args as Record<string, unknown>;
  const freeze =
    unfreezeAfterSeconds === undefined ? {} : { unfreezeTimeoutSeconds: unfreezeAfterSeconds };
  return { call: rpcNames[verb], ...rest, ...freeze };
}

/** Bodies of failures are sentences. */
function answered(
  { code, contentType, body, events }: NodeAnswer,
  launcher: unknown[] = [],
): unknown {
  const told = events.map(({ type, reason }) => `${type} ${reason}`);
  const base = { code, events: told, launcher };
  if (code >= 400 || body === undefined) return base;
  return contentType === "application/json"
    ? { ...base, body: JSON.parse(String(body)) }
    : { ...base, contentType, rawBody: Buffer.from(body).toString() };
}
