import { defineResource, type StatusCause } from "@virtkit/kube";
import { sameJson } from "./json.ts";
import { type AnyObject, type Kind, plainKind } from "./kind.ts";

/** Fields of a Pod's spec that may change after its creation, as long as nobody resizes it. */
const mutable = new Set(["activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds"]);

function createdPod(object: AnyObject): AnyObject {
  const { spec } = object;
  return {
    ...object,
    spec: {
      restartPolicy: "Always",
      terminationGracePeriodSeconds: 30,
      dnsPolicy: "ClusterFirst",
      schedulerName: "default-scheduler",
      ...spec,
    },
    status: { phase: "Pending", qosClass: "BestEffort" },
  };
}

/** What is wrong with a Pod; of its rules only those on which controllers run into in practice. */
function podProblems(object: AnyObject, previous: AnyObject | undefined): readonly StatusCause[] {
  const containers = object.spec?.["containers"];
  if (!Array.isArray(containers) || containers.length === 0) {
    return [{ reason: "FieldValueRequired", field: "spec.containers", message: "Required value" }];
  }
  if (!previous) return [];
  const keys = new Set([...Object.keys(object.spec ?? {}), ...Object.keys(previous.spec ?? {})]);
  const changed = [...keys].filter(
    (key) =>
      !mutable.has(key) &&
      !isImageChange(key, object, previous) &&
      !equalField(key, object, previous),
  );
  if (changed.length === 0) return [];
  const message = `pod updates may not change fields other than images, tolerations and deadlines: ${changed.join(", ")}`;
  return [{ reason: "FieldValueForbidden", field: "spec", message }];
}

function equalField(key: string, object: AnyObject, previous: AnyObject): boolean {
  return sameJson(object.spec?.[key], previous.spec?.[key]);
}

/** Whether containers differ in nothing but their images. */
function isImageChange(key: string, object: AnyObject, previous: AnyObject): boolean {
  if (key !== "containers" && key !== "initContainers") return false;
  const withoutImages = (pod: AnyObject) => {
    const list = pod.spec?.[key];
    return Array.isArray(list) ? list.map((each: object) => ({ ...each, image: "" })) : list;
  };
  return sameJson(withoutImages(object), withoutImages(previous));
}

/**
 * For how long a deleted Pod stays: as long as the caller or its spec says, or not at all if no kubelet must
 * end it.
 */
function podGracePeriod(object: AnyObject, asked: number | undefined): number {
  const own = object.spec?.["terminationGracePeriodSeconds"];
  const phase = object.status?.["phase"];
  const ended = phase === "Failed" || phase === "Succeeded";
  if (!object.spec?.["nodeName"] || ended) return 0;
  return asked ?? (typeof own === "number" ? own : 30);
}

/** Pods, with their deletion in two steps. */
export const podKind: Kind = plainKind(
  defineResource({ version: "v1", plural: "pods", kind: "Pod" }),
  {
    counted: true,
    fields: ["spec.nodeName", "spec.schedulerName", "status.phase", "status.podIP"],
    created: createdPod,
    problems: podProblems,
    gracePeriod: podGracePeriod,
  },
);
