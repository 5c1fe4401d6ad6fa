import { type Clock, realClock, until } from "@virtkit/api/clock";
import { at, objects } from "@virtkit/api/shape";
import type { KubeClient, KubeObject } from "@virtkit/kube";
import { liveRead } from "@virtkit/kube/cache";
import { applyObject } from "@virtkit/kube/writes";
import { decided, type Installation } from "../manifests/installation.ts";
import { manifests } from "../manifests/manifests.ts";
import { OperatorError } from "../operator-error.ts";
import { podComplaints } from "./pod-complaints.ts";
import { refuseKubeVirt } from "./refuse-kubevirt.ts";
import { refuseOtherNamespace } from "./refuse-other-namespace.ts";
import { resourceOf } from "./resource-of.ts";

/** Options of {@link install}. */
export interface InstallOptions extends Installation {
  readonly client: KubeClient;
  /** Milliseconds for each object that must become ready. Default 3 minutes. */
  readonly patience?: number;
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
}

/** Milliseconds. */
const defaultPatience = 180_000;

/** The field manager of the objects, for server-side apply. */
const fieldManager = "virtkit-operator";

/**
 * Installs the platform in a cluster, or updates an existing installation, and waits until all of it is ready.
 * Reports each step. It can be repeated, and interrupted at any moment. Refuses before it applies anything if the cluster has
 * KubeVirt, whose objects have the same names, or an installation in another namespace.
 *
 * @throws OperatorError `OPERATOR_KUBEVIRT_EXISTS`, `OPERATOR_OTHER_NAMESPACE`, or `OPERATOR_NOT_READY` with what was not ready in time
 */
export async function* install(options: InstallOptions): AsyncGenerator<string> {
  const { client, signal } = options;
  const { namespace, names } = decided(options);
  await refuseKubeVirt(client, names, { signal });
  await refuseOtherNamespace(client, { namespace, names }, { signal });
  const all = manifests(options);
  const kinds = all.filter(({ kind }) => kind === "CustomResourceDefinition");
  const slow = all.filter(({ kind }) => slowToGo.has(kind ?? ""));
  for (const object of slow) {
    if (!(await isGoing(object, options))) continue;
    yield `waiting until ${object.kind} ${object.metadata.name} of an earlier installation is gone`;
    await untilGone(object, options);
  }
  yield `applying ${kinds.length} resource definitions`;
  for (const crd of kinds) await apply(client, crd, signal);
  for (const crd of kinds) await untilReady(crd, options);
  const others = manifests(await withLiveNetwork(options)).filter(
    ({ kind }) => kind !== "CustomResourceDefinition",
  );
  for (const object of others) await apply(client, object, signal);
  const { patience = defaultPatience } = options;
  yield `applied ${all.length} objects; each component has ${patience / 1000} s to become ready`;
  // The controllers report the whole installation, so that is ready last.
  const isReport = ({ kind }: KubeObject): boolean => kind === "KubeVirt";
  for (const object of [...others.filter((each) => !isReport(each)), ...others.filter(isReport)]) {
    if (readiness[object.kind ?? ""] === undefined) continue;
    await untilReady(object, options);
    yield `${object.kind} ${object.metadata.name} is ready`;
  }
}

/**
 * The migration network that the cluster's KubeVirt object names, where the installation does not name another: only the
 * DaemonSet of the agents can attach it, and the object may have been edited since.
 */
async function withLiveNetwork(options: InstallOptions): Promise<Installation> {
  const { client, signal, configuration } = options;
  const network = configuration?.migrations?.network;
  const own = manifests(options).find(({ kind }) => kind === "KubeVirt");
  if (network !== undefined || !own) return options;
  const { namespace, name = "" } = own.metadata;
  const place = namespace === undefined ? { name } : { namespace, name };
  const found = await liveRead(client, resourceOf(own), place, { signal });
  if (found.state !== "present") return options;
  const named = at(found.object, "spec", "configuration", "migrations", "network");
  if (typeof named !== "string" || named === "") return options;
  const migrations = { ...configuration?.migrations, network: named };
  return { ...options, configuration: { ...configuration, migrations } };
}

async function apply(
  client: KubeClient,
  object: KubeObject,
  signal: AbortSignal | undefined,
): Promise<void> {
  await applyObject(client, resourceOf(object), object, { fieldManager, force: true, signal });
}

/**
 * Kinds whose deletion takes a while: nothing can be created in a namespace that is being deleted, or of such a
 * kind.
 */
const slowToGo: ReadonlySet<string> = new Set(["Namespace", "CustomResourceDefinition"]);

async function isGoing(
  object: KubeObject,
  { client, signal }: Pick<InstallOptions, "client" | "signal">,
): Promise<boolean> {
  const { name = "" } = object.metadata;
  const found = await liveRead(client, resourceOf(object), { name }, { signal });
  return found.state === "present" && found.object.metadata.deletionTimestamp !== undefined;
}

async function untilGone(object: KubeObject, options: InstallOptions): Promise<void> {
  const { clock = realClock, patience = defaultPatience, signal } = options;
  const isGone = async (): Promise<boolean> => !(await isGoing(object, options));
  if (await until(isGone, { clock, interval: 250, timeout: patience, signal })) return;
  const what = `${object.kind} ${object.metadata.name}`;
  const message = `${what} of an earlier installation is still being deleted after ${patience / 1000} s; check which finalizers hold it`;
  throw new OperatorError("OPERATOR_NOT_READY", message);
}

const hasCondition = (type: string) => (object: KubeObject) =>
  objects(at(object, "status", "conditions")).some(
    (condition) => condition["type"] === type && condition["status"] === "True",
  );

const isObserved = (object: KubeObject): boolean =>
  at(object, "status", "observedGeneration") === at(object, "metadata", "generation");

/** The images that an installation consists of, as its controllers have reported them. */
function deployedImages(kubevirt: KubeObject): readonly unknown[] {
  const config = at(kubevirt, "status", "observedDeploymentConfig");
  const images: unknown = JSON.parse(typeof config === "string" ? config : "{}");
  return typeof images === "object" && images !== null ? Object.values(images) : [];
}

/** When an object of a kind is ready. */
const readiness: Readonly<
  Record<string, (object: KubeObject, installation: Pick<Installation, "image">) => boolean>
> = {
  CustomResourceDefinition: hasCondition("Established"),
  APIService: hasCondition("Available"),
  Deployment: (object) =>
    isObserved(object) &&
    at(object, "status", "readyReplicas") === at(object, "spec", "replicas") &&
    at(object, "status", "updatedReplicas") === at(object, "spec", "replicas"),
  DaemonSet: (object) => {
    const wanted = at(object, "status", "desiredNumberScheduled");
    return (
      isObserved(object) &&
      at(object, "status", "numberReady") === wanted &&
      at(object, "status", "updatedNumberScheduled") === wanted
    );
  },
  KubeVirt: (object, { image }) =>
    isObserved(object) &&
    at(object, "status", "phase") === "Deployed" &&
    deployedImages(object).every((each) => each === image),
};

async function untilReady(object: KubeObject, options: InstallOptions): Promise<void> {
  const { client, clock = realClock, patience = defaultPatience, signal } = options;
  const { kind = "", metadata } = object;
  const { namespace, name = "" } = metadata;
  const isReady = readiness[kind];
  if (!isReady) return;
  const place = namespace === undefined ? { name } : { namespace, name };
  let last: KubeObject | undefined;
  const look = async (): Promise<boolean> => {
    last = await client.get(resourceOf(object), place, { signal });
    return isReady(last, options);
  };
  if (await until(look, { clock, interval: 250, timeout: patience, signal })) return;
  const status = JSON.stringify(at(last, "status") ?? {}).slice(0, 500);
  const reasons = await reasonsOf(object, options);
  const next =
    reasons.length > 0 ? reasons.join("; ") : `check its Pods in ${namespace ?? "the cluster"}`;
  const message = `${kind} ${name} is not ready after ${patience / 1000} s; its status is ${status}; ${next}`;
  throw new OperatorError("OPERATOR_NOT_READY", message);
}

function componentOf({ kind, metadata }: KubeObject): string | undefined {
  if (kind === "APIService") return "virt-api";
  return kind === "Deployment" || kind === "DaemonSet" ? metadata.name : undefined;
}

/** Why it is not ready, according to its Pods. The aggregated API is served by those of the API server of VMs. */
async function reasonsOf(object: KubeObject, options: InstallOptions): Promise<readonly string[]> {
  const { namespace, names } = decided(options);
  const component = componentOf(object);
  if (component === undefined) return [];
  const labelSelector = `${names.labels.app}=${component}`;
  return await podComplaints(options.client, { namespace, labelSelector }, options);
}
