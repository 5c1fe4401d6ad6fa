import type { AdmissionRequest } from "@virtkit/api/admission";
import {
  type ClusterConfig,
  type ClusterConfigOptions,
  readClusterConfig,
} from "@virtkit/api/config";

/** The `context` of recorded requests to a webhook; any part may be missing. */
export interface RequestContext {
  readonly kubevirt?: {
    readonly configuration?: unknown;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly defaultArchitecture?: string;
    readonly cpuArch?: string;
  };
  readonly username?: string;
  readonly userExtra?: Readonly<Record<string, string | readonly string[]>>;
  readonly dryRun?: boolean;
  readonly objects?: Readonly<Record<string, readonly unknown[] | undefined>>;
  /** The clock, as a time in text. */
  readonly now?: string;
}

/** The context of a request, whatever was given. */
export function requestContext(context: unknown): RequestContext {
  return Object(context) as RequestContext;
}

/**
 * The cluster's configuration in a context. One that KubeVirt would not accept counts as empty: it
 * keeps the last valid one, which here is the default.
 */
export function contextConfig({ kubevirt = {} }: RequestContext): ClusterConfig {
  const { configuration, annotations, defaultArchitecture, cpuArch } = kubevirt;
  const options: ClusterConfigOptions = {
    ...(cpuArch === undefined ? {} : { cpuArchitecture: cpuArch }),
    ...(defaultArchitecture === undefined ? {} : { defaultArchitecture }),
  };
  const metadata = { annotations: annotations ?? {} };
  const read = readClusterConfig({ metadata, spec: { configuration } }, options);
  if (!Array.isArray(read)) return read as ClusterConfig;
  return readClusterConfig({ metadata, spec: {} }, options) as ClusterConfig;
}

/** A recorded AdmissionRequest; its object may have any shape. */
export function admissionRequest(input: unknown, context: RequestContext): AdmissionRequest {
  const request = Object(input) as AdmissionRequest;
  const { username, userExtra } = context;
  return {
    ...request,
    ...(username === undefined ? {} : { username }),
    ...(userExtra === undefined ? {} : { userExtra: listsOf(userExtra) }),
  };
}

/** The authenticator's facts about a user are lists; a single text stands for a list of one. */
function listsOf(
  extra: Readonly<Record<string, string | readonly string[]>>,
): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(Object.entries(extra).map(([key, value]) => [key, [value].flat()]));
}

/** An object of a context's cluster by its name. */
export function namedObject(
  { objects }: RequestContext,
  list: string,
  { namespace, name }: { namespace: string; name: string },
): object | undefined {
  const all = (objects?.[list] ?? []) as readonly { metadata?: Record<string, unknown> }[];
  return all.find(
    (object) =>
      object?.metadata?.["name"] === name && (object.metadata["namespace"] ?? "") === namespace,
  );
}
