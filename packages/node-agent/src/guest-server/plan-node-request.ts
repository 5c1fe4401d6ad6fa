import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { durationMilliseconds } from "@virtkit/api/schema";
import { at, isObject } from "@virtkit/api/shape";
import { type NodeRequest, type NodeSubresource, nodeRoutes } from "@virtkit/api/subresources/node";
import type { JsonObject, LauncherCall, PlainVerb } from "./launcher-call.ts";

/** A stream to the guest. */
export type GuestStream =
  | { readonly stream: "console" | "usbredir" }
  | { readonly stream: "vnc"; readonly preserveSession: boolean }
  | {
      readonly stream: "vsock";
      readonly cid: number;
      readonly port: number;
      readonly tls: boolean;
    };

/** A request that is rejected. */
export interface Refused {
  readonly code: 400 | 404 | 409 | 500;
  readonly message: string;
}

/** What to do about a request. */
export type RequestPlan =
  | { readonly kind: "call"; readonly call: LauncherCall }
  | { readonly kind: "stream"; readonly stream: GuestStream }
  | ({ readonly kind: "refused" } & Refused);

/** What a request is checked against. */
export interface RequestFacts {
  /** This node. */
  readonly nodeName: string;
  /** The VMI of that namespace and name, as this node knows it. */
  readonly vmi: VirtualMachineInstance | undefined;
  /** The UID that the caller has checked. */
  readonly uid: string | undefined;
  readonly body?: string;
}

const plainVerbs: Partial<Record<NodeSubresource, PlainVerb>> = {
  pause: "pause",
  unpause: "unpause",
  unfreeze: "unfreeze",
  softreboot: "softReboot",
  reset: "reset",
  "vnc/screenshot": "screenshot",
  guestosinfo: "guestInfo",
  userlist: "users",
  filesystemlist: "fileSystems",
  "sev/fetchcertchain": "sevInfo",
  "sev/querylaunchmeasurement": "launchMeasurement",
};

/** Fields of a body that are passed on; others are ignored, as in KubeVirt. */
const backupFields = [
  ...["backupName", "cmd", "mode", "backupStartTime", "incremental", "targetPath", "skipQuiesce"],
  ...["exportServerAddr", "exportServerName", "backupKey", "backupCert", "caCert"],
];
const checkpointFields = ["name", "creationTime", "volumes"];
const secretFields = ["header", "secret"];

/**
 * What a request from the API server becomes. The VMI's phase is not checked: the caller has done so, and a request
 * to a guest that has ended fails at its launcher.
 */
export function planNodeRequest(
  { subresource, query }: NodeRequest,
  { nodeName, vmi, uid, body }: RequestFacts,
): RequestPlan {
  if (!vmi) return refuse(404, "this node has no such VMI");
  const place = vmi.status?.nodeName;
  if (place !== nodeName) {
    return refuse(404, `the VMI is on ${place ? `node ${place}` : "no node"}, not on ${nodeName}`);
  }
  if (!uid) return refuse(400, "the request does not say which UID the VMI must have");
  if (vmi.metadata?.uid !== uid) {
    return refuse(409, `the VMI with this name is ${vmi.metadata?.uid}, not ${uid}; read it again`);
  }
  const verb = plainVerbs[subresource];
  if (verb) return { kind: "call", call: { verb } };
  if (nodeRoutes[subresource].success === 101) return planStream(subresource, query, vmi);
  const fields = readBody(body);
  if (fields === undefined) return refuse(400, "the body is not a JSON object");
  return planCall(subresource, fields);
}

function planCall(subresource: NodeSubresource, body: JsonObject): RequestPlan {
  switch (subresource) {
    case "freeze":
      return planFreeze(body);
    case "backup":
      return call({ verb: "backup", options: pick(body, backupFields) });
    case "redefine-checkpoint":
      return call({ verb: "redefineCheckpoint", checkpoint: pick(body, checkpointFields) });
    case "sev/injectlaunchsecret":
      return call({ verb: "injectLaunchSecret", options: pick(body, secretFields) });
    default:
      return refuse(404, `${subresource} is not served`);
  }
}

function planFreeze(body: JsonObject): RequestPlan {
  const given = at(body, "unfreezeTimeout");
  const milliseconds = typeof given === "string" ? durationMilliseconds(given) : undefined;
  if (milliseconds === undefined) {
    return refuse(400, "unfreezeTimeout: not a duration; use one like 5m0s");
  }
  // Fractions of a second are cut off. Zero means no timeout; -0 is zero.
  return call({ verb: "freeze", unfreezeAfterSeconds: Math.trunc(milliseconds / 1000) || 0 });
}

function planStream(
  subresource: NodeSubresource,
  query: NodeRequest["query"],
  vmi: VirtualMachineInstance,
): RequestPlan {
  switch (subresource) {
    case "console":
    case "usbredir":
      return { kind: "stream", stream: { stream: subresource } };
    case "vnc": {
      const preserveSession = readFlag(query["preserveSession"]) ?? false;
      return { kind: "stream", stream: { stream: "vnc", preserveSession } };
    }
    default:
      return planVsock(query, vmi);
  }
}

const largestPort = 0xff_ff_ff_ff;

function planVsock(query: NodeRequest["query"], vmi: VirtualMachineInstance): RequestPlan {
  if (vmi.spec.domain.devices?.autoattachVSOCK !== true) {
    return refuse(400, "the VMI has no VSOCK: set autoattachVSOCK");
  }
  const cid = vmi.status?.VSOCKCID;
  if (cid === undefined) return refuse(500, "status.VSOCKCID: the VMI has none yet");
  const port = /^\d{1,10}$/.test(query["port"] ?? "") ? Number(query["port"]) : undefined;
  if (port === undefined || port > largestPort) {
    return refuse(400, "port: not an integer below 2^32");
  }
  const tls = query["tls"] ? readFlag(query["tls"]) : false;
  if (tls === undefined) return refuse(400, "tls: neither true nor false");
  return { kind: "stream", stream: { stream: "vsock", cid, port, tls } };
}

/** As Go reads them. */
function readFlag(text: string | undefined): boolean | undefined {
  if (["1", "t", "T", "TRUE", "true", "True"].includes(text ?? "")) return true;
  return ["0", "f", "F", "FALSE", "false", "False"].includes(text ?? "") ? false : undefined;
}

/** No body and `null` both mean a body without fields. */
function readBody(body = ""): JsonObject | undefined {
  if (body.trim() === "") return {};
  try {
    const read: unknown = JSON.parse(body);
    if (read === null) return {};
    return isObject(read) ? read : undefined;
  } catch {
    // The caller learns that it is not JSON.
    return undefined;
  }
}

function pick(body: JsonObject, fields: readonly string[]): JsonObject {
  const found = fields.flatMap((field) => {
    const value = at(body, field);
    return value === undefined ? [] : [[field, value] as const];
  });
  return Object.fromEntries(found);
}

function call(planned: LauncherCall): RequestPlan {
  return { kind: "call", call: planned };
}

function refuse(code: Refused["code"], message: string): RequestPlan {
  return { kind: "refused", code, message };
}
