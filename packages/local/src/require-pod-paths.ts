import type { Pod } from "@virtkit/launcher-pod";
import { NodeAgentError } from "@virtkit/node-agent/errors";

/** One path component, and a valid name in Kubernetes. */
const namePattern = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/**
 * Refuses a Pod whose names would lead out of its folder or its root. An API server refuses them
 * too, but local mode has none: names of Secrets and volumes of a VMI become names of the Pod's
 * volumes, and these become folders of the host and mount points.
 */
export function requirePodPaths({ spec }: Pod): void {
  for (const { name } of spec.volumes ?? []) {
    if (!namePattern.test(name)) throw refused("volumes", name, "the name of a volume");
  }
  for (const { volumeMounts = [] } of spec.containers) {
    for (const { mountPath, subPath = "" } of volumeMounts) {
      const isPlain = mountPath.startsWith("/") && !subPath.startsWith("/");
      const parts = [...mountPath.split("/"), ...subPath.split("/")];
      if (isPlain && !parts.includes("..") && !/\0/.test(mountPath + subPath)) continue;
      throw refused("volumeMounts", `${mountPath}:${subPath}`, "a place to mount a volume on");
    }
  }
}

function refused(path: string, found: string, wanted: string): NodeAgentError {
  const shown = JSON.stringify(found.slice(0, 120));
  const message = `the Pod's ${path}: ${shown} cannot be ${wanted}; use lower-case letters, digits, - and . in the names of the VMI's volumes and Secrets`;
  return new NodeAgentError("AGENT_VMI_INVALID", message, { path });
}
