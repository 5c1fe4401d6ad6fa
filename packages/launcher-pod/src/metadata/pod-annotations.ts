import { grantAnnotation } from "@virtkit/api/grant";
import type { Names } from "@virtkit/api/names";
import { podAnnotations as networkAnnotations } from "@virtkit/api/network";
import { computeName } from "../containers/compute-container.ts";
import { part } from "../explain.ts";
import { LauncherPodError } from "../launcher-pod-error.ts";
import type { Step } from "../pod-draft.ts";
import { foreignNames } from "../well-known.ts";

/** Annotations for tools that look at the Pod: the VMI's, and what the Pod is. */
export const podAnnotations: Step = (request, { annotations: own }) => {
  const { explain, names } = request;
  const { annotations } = names;
  const set = (key: string, value: string, from: string, because: string): void => {
    own[key] = value;
    explain?.(part.annotation(key), from, because);
  };
  set(annotations.domain, request.name, "vmi.metadata.name", "the guest in this Pod");
  for (const key of Object.keys(request.annotations)) {
    if (isAboutVmi(key, names)) continue;
    const value = request.annotations[key] ?? "";
    set(key, value, "vmi.metadata.annotations", "the Pod gets the annotations of the VMI");
  }
  set(
    foreignNames.defaultContainer,
    computeName,
    "rule",
    "what kubectl logs and exec use by default",
  );
  set(
    annotations.migrationTransportUnix,
    "true",
    "rule",
    "migration data goes through unix sockets",
  );
  set(foreignNames.requestEvictOnly, "", "rule", "the descheduler asks; the guest then migrates");
  if (request.temporary)
    set(annotations.ephemeralProvisioning, "true", "rule", "no guest runs in this Pod");
  if (request.config.gate("VmiMemoryOverheadReport")) {
    const bytes = `${request.memoryOverhead.value()}`;
    set(annotations.memoryOverheadBytes, bytes, "rule", "memory that the guest does not see");
  }
};

/** Notes of tools about the VMI itself. */
function isAboutVmi(key: string, { annotations, own }: Names): boolean {
  return (
    key.startsWith("kubectl.kubernetes.io") ||
    key === own(grantAnnotation) ||
    key.startsWith(annotations.storageObservedApiVersion) ||
    key.startsWith(annotations.latestObservedApiVersion)
  );
}

/** Annotations by which Multus and Istio connect the Pod. */
export const networkConnections: Step = ({ vmi, config, explain }, draft) => {
  const answer = networkAnnotations(vmi, config);
  if ("problem" in answer) {
    const { message, path } = answer.problem;
    throw new LauncherPodError("LAUNCHER_POD_FIELD_INVALID", `${path}: ${message}`, { path });
  }
  for (const key of Object.keys(answer.annotations)) {
    draft.annotations[key] = answer.annotations[key] ?? "";
    explain?.(part.annotation(key), "vmi.spec.networks", "how the Pod is connected");
  }
};
