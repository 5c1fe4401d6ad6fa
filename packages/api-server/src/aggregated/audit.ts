import type { Observers } from "@virtkit/api/observe";
import type { AccessReviewSpec } from "@virtkit/api/subresources/server";

/** What is recorded of a request: who asked for what, and the result. */
export interface AuditedRequest {
  readonly spec?: AccessReviewSpec | undefined;
  readonly method: string;
  readonly path: string;
  readonly code: number;
  readonly seconds: number;
  readonly message?: string | undefined;
}

/** Logs and counts a request. Its body and answer are not logged, because they may be secret. */
export function audit(
  { spec, method, path, code, seconds, message }: AuditedRequest,
  { log, metrics }: Observers,
): void {
  const attributes = spec?.resourceAttributes;
  const subresource = attributes ? (attributes.subresource ?? attributes.resource) : "none";
  const labels = {
    subresource: code === 404 || code === 405 ? "unknown" : subresource,
    code: String(code),
  };
  metrics?.count("api_server_requests", labels);
  metrics?.observe("api_server_request_seconds", seconds, { subresource: labels.subresource });
  if (!attributes) {
    log?.debug({ method, path: path.slice(0, 200), code }, "asked");
    return;
  }
  const { namespace, name, verb, resource } = attributes;
  log?.info(
    {
      user: spec?.user,
      verb,
      resource,
      subresource: attributes.subresource,
      namespace,
      name,
      code,
      ...(message ? { message: message.slice(0, 500) } : {}),
    },
    "asked",
  );
}
