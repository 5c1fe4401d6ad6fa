import { podAnnotations as networkAnnotations } from "@virtkit/api/network";
import { computeName } from "../containers/compute-container.ts";
import { part } from "../explain.ts";
import { LauncherPodError } from "../launcher-pod-error.ts";
import type { Step } from "../pod-draft.ts";
import { annotations } from "../well-known.ts";

/** Notes that tools leave on a VMI about the VMI itself. */
const notForPods = [
  "kubectl.kubernetes.io",
  "kubevirt.io/storage-observed-api-version",
  "kubevirt.io/latest-observed-api-version",
];

/** Annotations for tools that look at the Pod: the VMI's, and what it is. */
export const podAnnotations: Step = (request, { annotations: own }) => {
  const { explain } = request;
  const set = (key: string, value: string, from: string, because: string): void => {
    own[key] = value;
    explain?.(part.annotation(key), from, because);
  };
  set(annotations.domain, request.name, "vmi.metadata.name", "the guest in this Pod");
  for (const [key, value] of Object.entries(request.annotations)) {
    if (notForPods.some((prefix) => key.startsWith(prefix))) continue;
    set(key, value, "vmi.metadata.annotations", "annotations of the VMI are the Pod's");
  }
  set(annotations.defaultContainer, computeName, "rule", "what kubectl logs and exec take");
  set(annotations.unixMigration, "true", "rule", "migration data goes through unix sockets");
  set(annotations.requestEvictOnly, "", "rule", "the descheduler asks; the guest then migrates");
  if (request.temporary) set(annotations.temporary, "true", "rule", "no guest runs in this Pod");
  if (request.config.gate("VmiMemoryOverheadReport")) {
    const bytes = `${request.memoryOverhead.value()}`;
    set(annotations.memoryOverhead, bytes, "rule", "memory that the guest does not see");
  }
};

/** Annotations by which Multus and Istio connect the Pod. */
export const networkConnections: Step = ({ vmi, config, explain }, draft) => {
  const answer = networkAnnotations(vmi, config);
  if ("problem" in answer) {
    const { message, path } = answer.problem;
    throw new LauncherPodError("LAUNCHER_POD_FIELD_INVALID", `${path}: ${message}`, { path });
  }
  for (const [key, value] of Object.entries(answer.annotations)) {
    draft.annotations[key] = value;
    explain?.(part.annotation(key), "vmi.spec.networks", "how the Pod is connected");
  }
};
