import type { DecidedInstallation } from "./installation.ts";

/** How a component's container starts its program. */
export interface Program {
  readonly command: readonly string[];
  readonly volumeMounts: readonly object[];
  readonly volumes: readonly object[];
}

/**
 * The program of a component: from the image, or from a working tree, in which case it restarts when it is
 * edited.
 */
export function programOf(
  name: string,
  args: readonly string[],
  { programs, workingTree }: DecidedInstallation,
): Program {
  const file = `${programs}/${name}.mjs`;
  if (!workingTree) return { command: ["node", file, ...args], volumeMounts: [], volumes: [] };
  const volume = "working-tree";
  return {
    command: ["node", "--watch", file, ...args],
    volumeMounts: [{ name: volume, mountPath: workingTree, readOnly: true }],
    volumes: [{ name: volume, hostPath: { path: workingTree, type: "Directory" } }],
  };
}
