import { isApiError } from "../api-error.ts";
import type { ClusterConfig } from "../config/index.ts";
import {
  defaultsPatch,
  defaultVirtualMachine,
  defaultVirtualMachineInstance,
  defaultVirtualMachineInstanceMigration,
  type JsonPatchOperation,
  type VirtualMachineDefaultsOptions,
  wireForm,
} from "../defaults/index.ts";
import { type MatcherLookup, settleMatchers } from "../instancetype/index.ts";
import {
  VirtualMachineInstanceMigrationSchema,
  VirtualMachineInstanceSchema,
  VirtualMachineInstanceStatusSchema,
  VirtualMachineSchema,
} from "../schema/index.ts";
import type { AdmissionRequest } from "./admission-request.ts";
import { argumentProblem } from "./argument-problem.ts";
import type { Cause } from "./cause.ts";
import { restoredGrant, withCreationMarks } from "./creation-marks.ts";
import { type Decoded, decode, decodeStored, summary } from "./decode.ts";
import { decodeInstance, decodeMachine } from "./decode-virtual-machine.ts";
import { semanticallyEqual } from "./semantic-equality.ts";
import { type ServiceAccounts, serviceAccounts } from "./service-accounts.ts";

/** Options of {@link mutate}. */
export interface MutateOptions extends Omit<VirtualMachineDefaultsOptions, "operation"> {
  /** What a VM may refer to for its size and devices. Default: nothing exists. */
  readonly matchers?: MatcherLookup;
  /** KubeVirt's own accounts. Default: those of namespace kubevirt. */
  readonly accounts?: ServiceAccounts;
  /**
   * Whether new objects get what controllers would write first (`withCreationMarks`), and the run grant of a
   * VMI is protected from others. KubeVirt does neither, so it is off by default; a server that admits for
   * Virtkit turns it on.
   */
  readonly marks?: boolean;
}

/** The answer of the mutating webhook. */
export type Mutation =
  | {
      readonly allowed: true;
      /** The object with the patch applied; the request's own object if nothing changes. */
      readonly object: unknown;
      /** Empty if nothing changes. */
      readonly patch: readonly JsonPatchOperation[];
      readonly warnings: readonly string[];
    }
  | {
      readonly allowed: false;
      readonly code: 400 | 422;
      readonly message: string;
      readonly causes: readonly Cause[];
    };

type Allowed = Extract<Mutation, { allowed: true }>;

/**
 * What KubeVirt's mutating webhook does with a request. On create, it fills in the defaults. On update, it restores
 * the old status if somebody other than KubeVirt tries to change it, since a VirtualMachineInstance has no status
 * subresource to protect it. Accepts an object of any shape and never throws; without a request or a configuration,
 * the request is refused.
 */
export function mutate(
  request: AdmissionRequest,
  config: ClusterConfig,
  options: MutateOptions = {},
): Mutation {
  const problem = argumentProblem({ request, config });
  if (problem) return { allowed: false, code: 400, message: problem.message, causes: [] };
  try {
    switch (request.kind) {
      case "VirtualMachineInstance":
        return mutateInstance(request, config, options);
      case "VirtualMachine":
        return mutateMachine(request, config, options);
      case "VirtualMachineInstanceMigration":
        return mutateMigration(request, config, options);
      default:
        return unchanged(request);
    }
  } catch (error) {
    if (!isApiError(error)) throw error;
    return { allowed: false, code: 400, message: error.message, causes: [] };
  }
}

function mutateInstance(
  request: AdmissionRequest,
  config: ClusterConfig,
  options: MutateOptions,
): Mutation {
  const decoded = decodeInstance(request.object);
  if (!decoded.ok) return refused(decoded);
  if (request.operation === "CREATE") {
    const object = marked(
      request,
      defaultVirtualMachineInstance(decoded.object, config, options),
      config,
      options,
    );
    const warnings = presetWarning(object.metadata?.annotations);
    return patched(request, defaultsPatch(object, ["spec", "metadata", "status"]), warnings);
  }
  const { isKubeVirt } = options.accounts ?? serviceAccounts();
  const old = decodeStored(VirtualMachineInstanceSchema, request.oldObject);
  if (!old.ok) return refused(old);
  const { status = {} } = old.object;
  const unchangedStatus = semanticallyEqual(
    VirtualMachineInstanceStatusSchema,
    decoded.object.status ?? {},
    status,
    "status",
  );
  if (isKubeVirt(request.username)) return unchanged(request);
  const grant = options.marks ? restoredGrant(request.object, request.oldObject, config.names) : [];
  if (unchangedStatus)
    return grant.length > 0 ? { ...unchanged(request), patch: grant } : unchanged(request);
  const written = wireForm(VirtualMachineInstanceStatusSchema, status);
  const object = { status: { guestOSInfo: {}, runtimeUser: 0, ...written } };
  const mutation = patched(request, defaultsPatch(object, ["status"]));
  return { ...mutation, patch: [...mutation.patch, ...grant] };
}

function mutateMachine(
  request: AdmissionRequest,
  config: ClusterConfig,
  options: MutateOptions,
): Mutation {
  const decoded = decodeMachine(request.object);
  if (!decoded.ok) return refused(decoded);
  if (decoded.object.metadata?.deletionTimestamp) return unchanged(request);
  const old =
    request.operation === "UPDATE"
      ? decodeStored(VirtualMachineSchema, request.oldObject)
      : undefined;
  if (old && !old.ok) return refused(old);
  const settled = settleMatchers(
    decoded.object,
    old?.object,
    options.matchers ?? nothingExists,
    config,
  );
  if (settled.kind === "faults") {
    const { faults: causes } = settled;
    return { allowed: false, code: 422, message: summary(causes), causes };
  }
  if (settled.kind === "not-inferred") {
    return { allowed: false, code: 400, message: settled.message, causes: [] };
  }
  const { operation } = request;
  const object = marked(
    request,
    defaultVirtualMachine(settled.vm, config, { ...options, operation }),
    config,
    options,
  );
  return patched(request, defaultsPatch(object, ["spec", "metadata"]));
}

const nothingExists: MatcherLookup = {
  claim: () => undefined,
  dataVolume: () => undefined,
  dataSource: () => undefined,
  snapshot: () => undefined,
  preference: () => undefined,
  clusterPreference: () => undefined,
  preferenceRevision: () => undefined,
};

function mutateMigration(
  request: AdmissionRequest,
  config: ClusterConfig,
  options: MutateOptions,
): Mutation {
  const decoded = decode(VirtualMachineInstanceMigrationSchema, request.object);
  if (!decoded.ok) return refused(decoded);
  const defaulted = defaultVirtualMachineInstanceMigration(decoded.object, config);
  const object = marked(request, defaulted, config, options);
  return patched(request, defaultsPatch(object, ["metadata"]));
}

function marked<T extends { metadata?: object }>(
  { kind, operation }: AdmissionRequest,
  object: T,
  { names }: ClusterConfig,
  { marks }: MutateOptions,
): T {
  if (!marks || operation !== "CREATE") return object;
  return { ...object, metadata: withCreationMarks(kind, object.metadata, names) };
}

/** What the patch does not name stays as it was sent, however odd. */
function patched(
  request: AdmissionRequest,
  patch: readonly JsonPatchOperation[],
  warnings: readonly string[] = [],
): Allowed {
  const parts = Object.fromEntries(patch.map(({ path, value }) => [path.slice(1), value]));
  return { allowed: true, object: { ...Object(request.object), ...parts }, patch, warnings };
}

function unchanged({ object }: AdmissionRequest): Allowed {
  return { allowed: true, object, patch: [], warnings: [] };
}

function refused({ code, message, causes }: Extract<Decoded<unknown>, { ok: false }>): Mutation {
  return { allowed: false, code, message, causes };
}

function presetWarning(
  annotations: Readonly<Record<string, string>> | undefined,
): readonly string[] {
  const used = Object.keys(annotations ?? {}).some((key) => key.includes("virtualmachinepreset"));
  return used
    ? ["VirtualMachineInstancePreset is deprecated; use an instancetype and a preference instead."]
    : [];
}
