import type { ProofOfEnd } from "../grant/index.ts";
import { at, isSet, objects, text } from "../shape.ts";
import { conditionsOf, hasCondition } from "../status/index.ts";
import { fencedBootOf, isFence } from "./fence-taint.ts";

/**
 * What the kubelet's report on a Pod proves: that containers of its launcher have ended. The Pod's phase proves
 * nothing, since garbage collection also writes it, and neither does an end that names no container: the status may be
 * that of another one.
 */
export function proofsFromPod(pod: unknown): readonly ProofOfEnd[] {
  return launcherStatuses(pod).flatMap((status) =>
    [at(status, "state", "terminated"), at(status, "lastState", "terminated")]
      .filter(isSet)
      .map(
        (terminated): ProofOfEnd => ({
          kind: "containerTerminated",
          containerID: text(at(terminated, "containerID")),
          reason: text(at(terminated, "reason")),
        }),
      )
      .filter((proof) => "containerID" in proof && proof.containerID !== ""),
  );
}

/** The containers of a Pod's launcher that the kubelet has reported, ended or not. */
export function launcherContainers(pod: unknown): readonly string[] {
  const ids = launcherStatuses(pod).flatMap((status) => [
    text(at(status, "containerID")),
    text(at(status, "state", "terminated", "containerID")),
    text(at(status, "lastState", "terminated", "containerID")),
  ]);
  return [...new Set(ids.filter((id) => id !== ""))];
}

function launcherStatuses(pod: unknown): readonly unknown[] {
  return objects(at(pod, "status", "containerStatuses")).filter(({ name }) => name === "compute");
}

/**
 * What a Node proves: that a machine is in a different boot than a holder's, or that somebody confirms with the
 * out-of-service taint that a boot is over: the one that the taint names, otherwise the present one. The taint counts
 * only while the Node is not Ready.
 */
export function proofsFromNode(node: unknown): readonly ProofOfEnd[] {
  const machineID = text(at(node, "status", "nodeInfo", "machineID"));
  const bootID = text(at(node, "status", "nodeInfo", "bootID"));
  if (machineID === "" || bootID === "") return [];
  const nodeReady = hasCondition(conditionsOf(Object(node)), "Ready", "True");
  const fences = objects(at(node, "spec", "taints")).filter(isFence);
  return [
    { kind: "bootChanged", machineID, bootID },
    ...fences.map((taint): ProofOfEnd => {
      return { kind: "fenced", machineID, bootID: fencedBootOf(taint) ?? bootID, nodeReady };
    }),
  ];
}
