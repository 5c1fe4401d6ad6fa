import { names as namesOf } from "@virtkit/api/names";
import { at, entry, text } from "@virtkit/api/shape";
import { conditionsOf, findCondition } from "@virtkit/api/status";

const agentSilence = 300_000;

/**
 * What is wrong with the node of a VMI, in a sentence; undefined if nothing is.
 *
 * @param isHolder whether a run grant names the node: then its guests start elsewhere only with proof of their end.
 */
export function nodeTrouble(node: unknown, now: number, isHolder = false): string | undefined {
  const name = text(at(node, "metadata", "name")).replace(/\p{Cc}+/gu, " ");
  const ready = findCondition(conditionsOf(Object(node)), "Ready");
  if (ready?.status !== "True") {
    const why = text(ready?.message) || text(ready?.reason) || "its kubelet does not report why";
    const advice = isHolder
      ? `; guests that it may still run are not started elsewhere: if you have switched it off, run "virtkit fence confirm ${name}"`
      : "";
    return `node ${name} is not ready: ${why.replace(/\p{Cc}+/gu, " ")}${advice}`;
  }
  const beat = entry(at(node, "metadata", "annotations"), namesOf().annotations.heartbeat);
  if (beat === undefined) return `no node agent has ever run on node ${name}`;
  const age = now - Date.parse(beat);
  if (age <= agentSilence) return undefined;
  return `the node agent of node ${name} has not been heard from since ${beat.replace(/\p{Cc}+/gu, " ")}`;
}
