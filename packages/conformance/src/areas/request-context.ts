import type { AdmissionRequest } from "@virtkit/api/admission";
import {
  type ClusterConfig,
  type ClusterConfigOptions,
  clusterConfig,
  readClusterConfig,
} from "@virtkit/api/config";
import { at, objects } from "@virtkit/api/shape";
import { InputError } from "./input-fields.ts";

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
  /** The clock, as a string. */
  readonly now?: string;
}

/** The context of a request, whatever was given. */
export function requestContext(context: unknown): RequestContext {
  return Object(context) as RequestContext;
}

/**
 * The cluster's configuration in a context: that of its `kubevirt`, otherwise its own `configuration`. One that
 * KubeVirt would refuse counts as empty: KubeVirt keeps the last valid one, which here is the default. An
 * architecture or an annotation that is not a string is ignored.
 */
export function contextConfig(context: unknown): ClusterConfig {
  const kubevirt = at(context, "kubevirt");
  const configuration = at(kubevirt, "configuration") ?? at(context, "configuration") ?? {};
  const options: ClusterConfigOptions = {
    ...textAs("cpuArchitecture", at(kubevirt, "cpuArch")),
    ...textAs("defaultArchitecture", at(kubevirt, "defaultArchitecture")),
  };
  const metadata = { annotations: texts(at(kubevirt, "annotations")) };
  const read = readClusterConfig({ metadata, spec: { configuration } }, options);
  return isConfig(read) ? read : clusterConfig({ metadata, spec: {} }, options);
}

type ReadConfig = ReturnType<typeof readClusterConfig>;

function isConfig(read: ReadConfig): read is ClusterConfig {
  return !Array.isArray(read);
}

function textAs<K extends string>(name: K, value: unknown): Partial<Record<K, string>> {
  return typeof value === "string" ? ({ [name]: value } as Partial<Record<K, string>>) : {};
}

function texts(value: unknown): Readonly<Record<string, string>> {
  const entries = Object.entries(Object(value) as object);
  return Object.fromEntries(entries.filter(([, text]) => typeof text === "string"));
}

/** The clock of a context in milliseconds since the epoch; undefined if it has none. */
export function contextTime(context: unknown): number | undefined {
  const now = at(context, "now");
  if (now === undefined) return undefined;
  const time = typeof now === "string" ? Date.parse(now) : Number.NaN;
  if (Number.isNaN(time)) {
    throw new InputError("context.now", "is not a time; pass one such as 2026-01-01T00:00:00Z");
  }
  return time;
}

/** A recorded AdmissionRequest; its object may have any shape. */
export function admissionRequest(input: unknown, context: RequestContext): AdmissionRequest {
  const request = Object(input) as AdmissionRequest;
  const { username, userExtra } = context;
  return {
    ...request,
    ...(username === undefined ? {} : { username }),
    ...(userExtra ? { userExtra: listsOf(userExtra) } : {}),
  };
}

/** The authenticator's facts about a user are lists; a single string stands for a list of one. */
function listsOf(
  extra: Readonly<Record<string, string | readonly string[]>>,
): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(Object.entries(extra).map(([key, value]) => [key, [value].flat()]));
}

/** An object of a context's cluster by its name. */
export function namedObject(
  context: RequestContext,
  list: string,
  { namespace, name }: { namespace: string; name: string },
): object | undefined {
  return objects<object>(at(context, "objects", list)).find(
    (object) =>
      at(object, "metadata", "name") === name &&
      (at(object, "metadata", "namespace") ?? "") === namespace,
  );
}
