import type { ClusterConfig } from "@virtkit/api/config";
import { at, text } from "@virtkit/api/shape";
import { carryOut, type Plan, type WriteOutcome } from "@virtkit/controller/plan";
import type { KubeObject } from "@virtkit/kube";
import { contextConfig, contextTime } from "../areas/request-context.ts";
import { reconcileAnswer } from "./reconcile-answer.ts";
import { RecordedCluster } from "./recorded-cluster.ts";

/** What a case is about, for the plan that answers it. */
export interface ReconcileCase<T> {
  /** The object of the key. */
  readonly subject: T;
  readonly cluster: RecordedCluster;
  readonly config: ClusterConfig;
  readonly now: number;
  /** What the controller did to objects of a kind before and has not seen in its caches yet. */
  expected(kind: string): "creation" | "deletion" | undefined;
}

/** How an area answers its cases. */
export interface Reconciler<T> {
  /** As in `input.objects`. */
  readonly plural: string;
  plan(given: ReconcileCase<T>, outcomes: readonly WriteOutcome[], context: unknown): Plan;
}

/** Answers a case of a controller: one pass over the object of its key. */
export async function reconcileCase<T>(
  input: unknown,
  context: unknown,
  reconciler: Reconciler<T>,
): Promise<unknown> {
  const { plan, cluster, subject } = await reconcilePass(input, context, reconciler);
  return reconcileAnswer(plan, cluster, subject);
}

/** One pass over the object of a case's key, carried out on the case's cluster. */
export interface ReconcilePass {
  readonly plan: Plan;
  readonly cluster: RecordedCluster;
  /** None if the object is gone, which needs nothing. */
  readonly subject?: KubeObject;
}

/** {@link ReconcilePass} of a case. */
export async function reconcilePass<T>(
  input: unknown,
  context: unknown,
  reconciler: Reconciler<T>,
): Promise<ReconcilePass> {
  const cluster = new RecordedCluster(input, context);
  return await reconcileOnce(cluster, text(at(input, "key")), context, reconciler);
}

/** The same on a cluster, with the time of the context. */
export async function reconcileOnce<T>(
  cluster: RecordedCluster,
  key: string,
  context: unknown,
  { plural, plan }: Reconciler<T>,
): Promise<ReconcilePass> {
  const [name = "", namespace = ""] = key.split("/").reverse();
  const subject = cluster
    .cached(plural)
    .find(({ metadata }) => metadata.name === name && (metadata.namespace ?? "") === namespace);
  if (!subject) return { plan: { writes: [], events: [] }, cluster };
  const given = {
    subject: subject as unknown as T,
    cluster,
    config: caseConfig(context),
    now: contextTime(context) ?? 0,
    expected: (kind: string) =>
      at(context, "expectations", kind) as "creation" | "deletion" | undefined,
  };
  const done = await carryOut((outcomes) => plan(given, outcomes, context), cluster);
  return { plan: done, cluster, subject };
}

/** The configuration of a controller's case, which gives the annotations of the KubeVirt object separately. */
export function caseConfig(context: unknown): ClusterConfig {
  const annotations = at(context, "kubevirtAnnotations");
  if (annotations === undefined) return contextConfig(context);
  const kubevirt = { configuration: at(context, "configuration"), annotations };
  return contextConfig({ ...Object(context), kubevirt });
}
