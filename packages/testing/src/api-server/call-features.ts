import {
  type DeleteOptions,
  isKubeError,
  type ListOptions,
  type Patch,
  type Resource,
  type WatchOptions,
  type WriteOptions,
} from "@virtkit/kube";

/** One call of a client and how it was answered: `error` is undefined if it was not refused. */
export type RecordedCall = {
  readonly resource: Resource;
  readonly error?: unknown;
} & (
  | { readonly verb: "get" | "create" | "update"; readonly options: WriteOptions }
  | { readonly verb: "patch"; readonly patch: Patch; readonly options: WriteOptions }
  | { readonly verb: "delete"; readonly options: DeleteOptions }
  | { readonly verb: "list"; readonly options: ListOptions }
  | { readonly verb: "watch"; readonly options: WatchOptions }
);

/**
 * What a server must know to answer a call, a line each: the verb, each option, the error. As in `patch custom merge`,
 * `patch custom merge with resourceVersion`, `patch custom merge: 409 Conflict`. Kinds that servers write in the same
 * way count as one: `pods`, other kinds of Kubernetes' own (`core`), those of CustomResourceDefinitions (`custom`). All
 * kinds are read in the same way.
 */
export function callFeatures(call: RecordedCall): readonly string[] {
  const base = baseOf(call);
  const refusal = refusalOf(call.error);
  return [
    base,
    ...optionsOf(call).map((option) => `${base} with ${option}`),
    ...(refusal ? [`${base}: ${refusal}`] : []),
  ];
}

function baseOf(call: RecordedCall): string {
  const { verb, resource, options } = call;
  if (verb === "get" || verb === "list" || verb === "watch") return verb;
  const { subresource } = options as WriteOptions;
  const door = kindOf(resource) + (subresource === undefined ? "" : `/${subresource}`);
  return [verb, door, ...(verb === "patch" ? [call.patch.type] : [])].join(" ");
}

function kindOf({ group, plural }: Resource): string {
  if (group === "" && plural === "pods") return "pods";
  return !group.includes(".") || group.endsWith(".k8s.io") ? "core" : "custom";
}

function optionsOf(call: RecordedCall): readonly string[] {
  const {
    signal: _,
    timeout: __,
    subresource: ___,
    onOpen: ____,
    ...options
  } = call.options as WriteOptions & WatchOptions;
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return [...given.map(([name, value]) => optionText(name, value)), ...bodyOptions(call)];
}

/** Values that change what is done are part of it; names, versions and selectors are not. */
function optionText(name: string, value: unknown): string {
  if (name === "preconditions") return `preconditions ${Object.keys(Object(value)).sort().join()}`;
  if (name === "fieldSelector") return `${name} ${String(value).replace(/[!=]=?[^,]*/g, "")}`;
  if (name === "gracePeriodSeconds") return value === 0 ? `${name} 0` : name;
  if (name === "resourceVersion") return value === "0" ? `${name} 0` : name;
  return name === "propagationPolicy" || name === "resourceVersionMatch"
    ? `${name} ${value}`
    : name;
}

/** Conditions and force, which are in what is sent. */
function bodyOptions(call: RecordedCall): readonly string[] {
  if (call.verb !== "patch") return [];
  const { patch } = call;
  if (patch.type === "json") {
    const isTested = patch.operations.some(({ op }) => op === "test");
    return isTested ? ["a test"] : [];
  }
  const { uid, resourceVersion } = Object(Object(patch.body).metadata);
  return [
    ...(uid === undefined ? [] : ["uid"]),
    ...(resourceVersion === undefined ? [] : ["resourceVersion"]),
    ...(patch.type === "apply" && patch.force ? ["force"] : []),
  ];
}

/** What a server itself refuses: not what a test's admission does, nor a caller that gave up. */
function refusalOf(error: unknown): string | undefined {
  if (!isKubeError(error) || error.code !== "KUBE_STATUS") return undefined;
  if (error.message.startsWith("admission webhook")) return undefined;
  return `${error.status} ${error.reason ?? ""}`.trim();
}
