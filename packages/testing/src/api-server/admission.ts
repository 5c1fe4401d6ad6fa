import type { JsonPatchOperation, KubeObject, Resource } from "@virtkit/kube";

/** What a webhook receives: one write, before it is stored. */
export interface AdmissionRequest {
  readonly operation: "CREATE" | "UPDATE" | "DELETE";
  readonly resource: Resource;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name: string;
  /** As it would be stored; as it is, for a deletion. */
  readonly object: KubeObject;
  readonly previous?: KubeObject;
  readonly dryRun: boolean;
  /** Who asks: the name that its client was made for. */
  readonly user: string;
}

/** The answer of a webhook. A refusal has the code 403 by default. */
export type AdmissionAnswer =
  | { readonly allowed: true; readonly patch?: readonly JsonPatchOperation[] }
  | {
      readonly allowed: false;
      readonly message: string;
      readonly code?: number;
      readonly reason?: string;
    };

/** A webhook without HTTP. Mutating webhooks come before validating ones. */
export interface Admission {
  readonly mutate?: (request: AdmissionRequest) => AdmissionAnswer | Promise<AdmissionAnswer>;
  readonly validate?: (request: AdmissionRequest) => AdmissionAnswer | Promise<AdmissionAnswer>;
}
