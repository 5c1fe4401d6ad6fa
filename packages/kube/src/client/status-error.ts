import { KubeError, type StatusCause } from "./kube-error.ts";

/** Of a body that is not a Kubernetes `Status`; enough to see whose it is. */
const excerptLength = 200;

/** A failure as a server answered it: a Kubernetes `Status`, or whatever else came. */
export function statusError(
  path: string,
  status: number,
  body: string,
  retryAfter?: string | undefined,
): KubeError {
  const parsed = statusOf(body);
  const asked =
    retryAfter !== undefined && /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) : undefined;
  if (parsed !== undefined) return errorOfStatus(path, parsed, status, asked);
  const text = body.replaceAll(/\s+/g, " ").trim().slice(0, excerptLength);
  const message = `${path}: ${status} without a Kubernetes Status${text && `: ${text}`}`;
  return new KubeError("KUBE_STATUS", message, { path, status, retryAfterSeconds: asked });
}

/** The error of a `Status`, as the body of an answer or as an event of a watch. */
export function errorOfStatus(
  path: string,
  body: Readonly<Record<string, unknown>>,
  httpStatus?: number,
  retryAfterSeconds?: number,
): KubeError {
  const status = httpStatus ?? number(body["code"]);
  const details = record(body["details"]);
  // Of a resource that it does not serve, a server says NotFound, too, but without a name: no word on the object.
  const isOfNoObject = body["reason"] === "NotFound" && details?.["name"] === undefined;
  const reason = isOfNoObject ? undefined : string(body["reason"]);
  const causes = Array.isArray(details?.["causes"]) ? details["causes"].map(causeOf) : [];
  const text = string(body["message"]) ?? "no message";
  const message = `${path}: ${[status, reason].filter(Boolean).join(" ")}: ${text}`;
  return new KubeError("KUBE_STATUS", message, {
    path,
    status,
    reason,
    causes,
    retryAfterSeconds: retryAfterSeconds ?? number(details?.["retryAfterSeconds"]),
  });
}

function statusOf(body: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const parsed = record(JSON.parse(body));
    return parsed?.["kind"] === "Status" ? parsed : undefined;
  } catch {
    // Not JSON, as of a proxy: the caller quotes it.
    return undefined;
  }
}

function causeOf(value: unknown): StatusCause {
  const cause = record(value);
  const [reason, message, field] = ["reason", "message", "field"].map((it) => string(cause?.[it]));
  return {
    ...(reason !== undefined && { reason }),
    ...(message !== undefined && { message }),
    ...(field !== undefined && { field }),
  };
}

function record(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

function string(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function number(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
