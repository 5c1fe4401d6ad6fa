import { at, isSet, type JsonObject, number, objects, text } from "../shape.ts";
import { done, type Evidence, type EvidenceByStage, failed, waiting } from "./evidence.ts";
import { quote, sentence } from "./sentences.ts";

/** What the launcher Pod shows. */
export function podEvidence(pod: unknown): EvidenceByStage {
  if (!isSet(pod)) return {};
  const scheduled = schedulingOf(pod);
  const running = runningOf(pod);
  return {
    "pod-created": done(at(pod, "metadata", "creationTimestamp")),
    ...(scheduled ? { scheduled } : {}),
    ...(running ? { "pod-running": running } : {}),
  };
}

function schedulingOf(pod: unknown): Evidence | undefined {
  const condition = conditionOf(pod, "PodScheduled");
  const since = condition?.["lastTransitionTime"];
  if (condition?.["status"] === "True" || text(at(pod, "spec", "nodeName"))) {
    return done(condition?.["status"] === "True" ? since : undefined);
  }
  if (condition?.["status"] === "False") {
    return waiting(sentence(text(condition["reason"]), text(condition["message"])), since);
  }
  return objects(at(pod, "spec", "schedulingGates")).length > 0
    ? waiting(sentence("SchedulingGated", ""))
    : undefined;
}

function runningOf(pod: unknown): Evidence | undefined {
  const phase = text(at(pod, "status", "phase"));
  const containers = [
    ...objects(at(pod, "status", "initContainerStatuses")),
    ...objects(at(pod, "status", "containerStatuses")),
  ];
  if (phase === "Failed") return failed(failureOf(pod, containers));
  const stuck = containers.flatMap((container) => stuckReason(container) ?? [])[0];
  if (stuck) return waiting(stuck);
  if (phase === "Running" || phase === "Succeeded") {
    const compute = containers.find(({ name }) => name === "compute");
    return done(
      at(compute, "state", "running", "startedAt") ??
        at(compute, "state", "terminated", "startedAt"),
    );
  }
  return phase === "Pending" ? waiting() : undefined;
}

/** Why a container does not start; undefined for one that is merely starting. */
function stuckReason(container: JsonObject): string | undefined {
  const state = at(container, "state", "waiting");
  const reason = text(at(state, "reason"));
  if (!isSet(state) || ["", "ContainerCreating", "PodInitializing"].includes(reason)) {
    return undefined;
  }
  if (reason === "CrashLoopBackOff") return crashes(container);
  const image = text(container["image"]);
  const message = text(at(state, "message"));
  const isImage = image && /Image/.test(reason) && !message.includes(image);
  return sentence(reason, isImage ? `${image}: ${message}` : message);
}

function crashes(container: JsonObject): string {
  const last = at(container, "lastState", "terminated");
  const restarts = number(container["restartCount"]);
  const detail = [
    restarts > 0 ? `${restarts} restarts` : "",
    isSet(last) ? `last exit code ${number(at(last, "exitCode"))}` : "",
    text(at(last, "reason")),
    quote(text(at(last, "message"))),
  ].filter((part) => part !== "");
  const name = text(container["name"]);
  const what = `container "${name}" keeps crashing`;
  return detail.length > 0 ? `${what} (${detail.join(", ")})` : what;
}

function failureOf(pod: unknown, containers: readonly JsonObject[]): string {
  const ended = containers.find(
    (container) => number(at(container, "state", "terminated", "exitCode")) !== 0,
  );
  const terminated = at(ended, "state", "terminated");
  if (text(at(terminated, "reason")) === "OOMKilled") return sentence("OOMKilled", "");
  if (isSet(terminated)) {
    const name = text(ended?.["name"]);
    const why = text(at(terminated, "message")) || text(at(terminated, "reason"));
    return `container "${name}" ended with exit code ${number(at(terminated, "exitCode"))}${why ? `: ${quote(why)}` : ""}`;
  }
  const reason = text(at(pod, "status", "reason"));
  return reason ? sentence(reason, text(at(pod, "status", "message"))) : "the Pod has failed";
}

function conditionOf(pod: unknown, type: string): JsonObject | undefined {
  return objects(at(pod, "status", "conditions")).find((condition) => condition["type"] === type);
}

/** Why a running Pod is not ready, by its conditions. */
export function unreadyReason(pod: unknown): string | undefined {
  for (const type of ["ContainersReady", "Ready"]) {
    const condition = conditionOf(pod, type);
    if (condition?.["status"] !== "False") continue;
    return sentence(text(condition["reason"]), text(condition["message"]));
  }
  return undefined;
}
