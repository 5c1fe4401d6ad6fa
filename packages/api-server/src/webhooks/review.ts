import { at, isObject, text } from "@virtkit/api/shape";

/** The parts of a question from the API server that are used here; the rules read the rest themselves. */
export interface Review {
  readonly uid: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly operation: string;
  readonly namespace: string;
  readonly name: string;
  readonly username: string;
  /** What the authenticator adds, such as the node that a token is bound to. */
  readonly userExtra: Readonly<Record<string, readonly string[]>>;
  readonly dryRun: boolean;
  readonly object: unknown;
  readonly oldObject: unknown;
  /** The whole request, as it was sent. */
  readonly body: unknown;
}

/** Reads an AdmissionReview of `admission.k8s.io/v1`, or says what else it is. */
export function readReview(body: unknown): Review | { readonly problem: string } {
  const apiVersion = at(body, "apiVersion");
  if (at(body, "kind") !== "AdmissionReview" || apiVersion !== "admission.k8s.io/v1") {
    const found = JSON.stringify([apiVersion, at(body, "kind")])?.slice(0, 200);
    return { problem: `the body is ${found}; send an AdmissionReview of admission.k8s.io/v1` };
  }
  const request = at(body, "request");
  if (!isObject(request)) return { problem: "the review has no request" };
  return {
    uid: text(request["uid"]),
    group: text(at(request, "resource", "group")),
    resource: text(at(request, "resource", "resource")),
    subresource: text(request["subResource"]),
    operation: text(request["operation"]),
    namespace: text(request["namespace"]),
    name: text(request["name"]),
    username: text(at(request, "userInfo", "username")),
    userExtra: textLists(at(request, "userInfo", "extra")),
    dryRun: request["dryRun"] === true,
    object: request["object"],
    oldObject: request["oldObject"],
    body,
  };
}

const none: Readonly<Record<string, readonly string[]>> = {};

function textLists(value: unknown): Readonly<Record<string, readonly string[]>> {
  if (!isObject(value)) return none;
  return Object.fromEntries(
    Object.entries(value).map(([key, list]) => [key, Array.isArray(list) ? list.map(text) : []]),
  );
}
