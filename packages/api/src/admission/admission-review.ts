import type { ClusterConfig } from "../config/index.ts";
import type { JsonPatchOperation } from "../defaults/index.ts";
import { type Admission, refuse } from "./admission.ts";
import type { AdmissionLookup } from "./admission-lookup.ts";
import type { AdmissionKind, AdmissionRequest } from "./admission-request.ts";
import { type AdmitOptions, admit } from "./admit.ts";
import type { Cause } from "./cause.ts";
import { summary } from "./decode.ts";
import { type MutateOptions, mutate } from "./mutate.ts";

/** The response to the API server: an AdmissionReview of `admission.k8s.io/v1`. */
export interface AdmissionReviewAnswer {
  readonly apiVersion: "admission.k8s.io/v1";
  readonly kind: "AdmissionReview";
  readonly response: {
    readonly uid: string;
    readonly allowed: boolean;
    readonly status?: {
      readonly code: number;
      readonly message: string;
      readonly reason?: "Invalid";
      readonly details?: { readonly causes: readonly Cause[] };
    };
    readonly warnings?: readonly string[];
    readonly patchType?: "JSONPatch";
    /** The JSON patch, in base64. */
    readonly patch?: string;
  };
}

/** A response holds this many causes; its message says how many more there are. */
const mostCauses = 10;

/**
 * Answers an AdmissionReview of the validating webhooks. Accepts any JSON value: a value that is not a review is
 * refused, with its uid or an empty one.
 */
export function reviewAdmission(
  review: unknown,
  config: ClusterConfig,
  lookup?: AdmissionLookup,
  options?: AdmitOptions,
): AdmissionReviewAnswer {
  const { uid, request } = readReview(review, config);
  return answerReview(uid, request ? admit(request, config, lookup, options) : noReview);
}

/** Answers an AdmissionReview of the mutating webhooks; see {@link reviewAdmission}. */
export function reviewMutation(
  review: unknown,
  config: ClusterConfig,
  options?: MutateOptions,
): AdmissionReviewAnswer {
  const { uid, request } = readReview(review, config);
  if (!request) return answerReview(uid, noReview);
  const mutation = mutate(request, config, options);
  if (!mutation.allowed) return answerReview(uid, { ...mutation, warnings: [] });
  const answered = answerReview(uid, { allowed: true, causes: [], warnings: mutation.warnings });
  if (mutation.patch.length === 0) return answered;
  const patch = encodePatch(mutation.patch);
  if (patch === undefined) return answerReview(uid, refuse(400, "the object is nested too deeply"));
  return { ...answered, response: { ...answered.response, patchType: "JSONPatch", patch } };
}

const noReview: Admission = {
  allowed: false,
  code: 400,
  message:
    "the body is not an AdmissionReview of admission.k8s.io/v1 with a request for a known kind",
  causes: [],
  warnings: [],
};

/** The response to the review with this uid, in the form that the API server expects. */
export function answerReview(uid: string, admission: Admission): AdmissionReviewAnswer {
  const { allowed, warnings } = admission;
  return {
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    response: {
      uid,
      allowed,
      ...(admission.allowed ? {} : { status: status(admission) }),
      ...(warnings.length > 0 ? { warnings } : {}),
    },
  };
}

function status({
  code,
  message,
  causes,
}: Extract<Admission, { allowed: false }>): NonNullable<
  AdmissionReviewAnswer["response"]["status"]
> {
  if (causes.length === 0) return { code, message };
  const shown = causes.slice(0, mostCauses);
  return { code, message: summary(causes), reason: "Invalid", details: { causes: shown } };
}

const kinds: Readonly<Record<string, AdmissionKind>> = {
  virtualmachineinstances: "VirtualMachineInstance",
  virtualmachines: "VirtualMachine",
  virtualmachineinstancemigrations: "VirtualMachineInstanceMigration",
};

function readReview(
  review: unknown,
  { names }: ClusterConfig,
): { uid: string; request?: AdmissionRequest } {
  const request = fields(fields(review)["request"]);
  const uid = typeof request["uid"] === "string" ? request["uid"] : "";
  const { group, resource } = fields(request["resource"]);
  const kind = typeof resource === "string" && Object.hasOwn(kinds, resource) && kinds[resource];
  const operation = request["operation"];
  if (!kind || group !== names.groups.core) return { uid };
  if (operation !== "CREATE" && operation !== "UPDATE") return { uid };
  const { username, extra } = fields(request["userInfo"]);
  return {
    uid,
    request: {
      kind,
      operation,
      object: request["object"],
      oldObject: request["oldObject"],
      userExtra: extra === undefined ? noLists : listsOf(extra),
      ...text("namespace", request["namespace"]),
      ...text("name", request["name"]),
      ...text("username", username),
    },
  };
}

function fields(value: unknown): Readonly<Record<string, unknown>> {
  return Object(value) as Readonly<Record<string, unknown>>;
}

function text<K extends string>(key: K, value: unknown): { readonly [key in K]?: string } {
  return (typeof value === "string" ? { [key]: value } : {}) as { readonly [key in K]?: string };
}

const noLists: Readonly<Record<string, readonly string[]>> = {};

function listsOf(extra: unknown): Readonly<Record<string, readonly string[]>> {
  const isList = (value: unknown): value is string[] =>
    Array.isArray(value) && value.every((item) => typeof item === "string");
  return Object.fromEntries(
    Object.entries(fields(extra)).flatMap(([key, value]) => (isList(value) ? [[key, value]] : [])),
  );
}

declare const TextEncoder: new () => { encode(text: string): Uint8Array };
declare const btoa: (binary: string) => string;

/** `undefined` if the object is nested deeper than JSON can be written. */
function encodePatch(patch: readonly JsonPatchOperation[]): string | undefined {
  let text: string;
  try {
    text = JSON.stringify(patch);
  } catch {
    return undefined;
  }
  const bytes = new TextEncoder().encode(text);
  let binary = "";
  // In pieces: a call takes only a limited number of arguments.
  for (let i = 0; i < bytes.length; i += 4096) {
    binary += String.fromCharCode(...bytes.subarray(i, i + 4096));
  }
  return btoa(binary);
}
