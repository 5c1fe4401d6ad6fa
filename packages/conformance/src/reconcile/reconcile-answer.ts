import { isDeepStrictEqual } from "node:util";
import { at, text } from "@virtkit/api/shape";
import type { EventSubject, Plan, PlanError } from "@virtkit/controller/plan";
import type { KubeObject } from "@virtkit/kube";
import type { AnsweredWrite, RecordedCluster, StoredObject } from "./recorded-cluster.ts";
import { recordedForm, withoutEmpty } from "./recorded-form.ts";

/** One pass of a controller as its areas record it: what changed, the requests, the events. */
export function reconcileAnswer(
  plan: Plan,
  cluster: RecordedCluster,
  subject?: EventSubject,
): unknown {
  return {
    after: Object.fromEntries(cluster.stored().flatMap(change)),
    actions: cluster.writes.map(action),
    events: plan.events.map(({ type, reason, about = subject }) => ({
      type,
      reason,
      object: `${text(about?.kind)}/${text(about?.metadata?.name)}`,
    })),
    requeue:
      plan.requeueAfterSeconds === undefined ? [] : [{ afterSeconds: plan.requeueAfterSeconds }],
    error: errorName(plan.error),
  };
}

function errorName(error: PlanError | undefined): string | null {
  if (!error) return null;
  return error.kind === "other" ? "other" : `${error.kind}:${error.reason}`;
}

/** An object that differs afterwards, with its name; for Pods and Nodes only the changed parts. */
function change(stored: StoredObject): [string, unknown][] {
  const { plural, before, now, deleted } = stored;
  const parts = ["metadata", "status", "spec"] as const;
  const [old, current] = [before, now].map((object) => parts.map((part) => partOf(object, part)));
  const changed = parts.filter(
    (_, i) => !isDeepStrictEqual(withoutEmpty(old?.[i]), withoutEmpty(current?.[i])),
  );
  if (changed.length === 0 && !deleted) return [];
  const isWhole = plural !== "pods" && plural !== "nodes" && changed.length > 0;
  const shown = parts.filter(
    (part) => changed.includes(part) || (isWhole && part !== "spec" && partOf(now, part)),
  );
  const entries = shown.map((part) => [part, withoutChance(before, partOf(now, part))]);
  const { namespace = "default", name } = before.metadata;
  const key = namespace === "default" ? `${plural}/${name}` : `${plural}/${namespace}/${name}`;
  return [[key, { ...Object.fromEntries(entries), ...(deleted ? { deleted } : {}) }]];
}

function partOf(object: KubeObject, part: "metadata" | "status" | "spec"): unknown {
  if (part !== "metadata") return recordedForm(at(object, part));
  const { labels, annotations, finalizers, ownerReferences } = object.metadata;
  return withoutEmpty({ labels, annotations, finalizers, ownerReferences });
}

/** A random number is not recorded. */
function withoutChance(before: KubeObject, part: unknown): unknown {
  const cid = at(part, "VSOCKCID");
  if (cid === undefined || cid === at(before, "status", "VSOCKCID")) return part;
  return { ...Object(part), VSOCKCID: "*" };
}

function action({ write, verb, refused }: AnsweredWrite): unknown {
  const { resource } = write;
  const place = write.kind === "create" ? write.object.metadata : write.object;
  return {
    verb,
    resource: resource.plural,
    ...(place.namespace ? { namespace: place.namespace } : {}),
    ...(place.name ? { name: place.name } : {}),
    ...("subresource" in write && write.subresource ? { subresource: write.subresource } : {}),
    ...(write.kind === "create" ? createdFields(write.object, resource.plural) : {}),
    ...(write.kind === "patch" && verb === "patch"
      ? { patchType: "json", patch: write.operations }
      : {}),
    ...(write.kind === "delete" && write.gracePeriodSeconds !== undefined
      ? { gracePeriodSeconds: write.gracePeriodSeconds }
      : {}),
    ...(write.kind === "call" ? { options: write.body } : {}),
    ...(refused ? { refused } : {}),
  };
}

/** For Pods only where they may run; the rest is area `launcher-pod`. */
function createdFields(object: KubeObject, plural: string): object {
  const { generateName, labels, annotations, ownerReferences, finalizers } = object.metadata;
  const spec = at(object, "spec");
  const placing = ["nodeName", "nodeSelector", "affinity"].map((key) => [key, at(spec, key)]);
  const content =
    plural === "pods" ? Object.fromEntries(placing) : { spec, data: at(object, "data") };
  const fields = { generateName, labels, annotations, ownerReferences, finalizers, ...content };
  return withoutEmpty(recordedForm(fields)) as object;
}
