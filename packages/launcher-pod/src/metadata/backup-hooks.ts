import type { ClusterConfig } from "@virtkit/api/config";
import { computeName } from "../containers/compute-container.ts";
import { part } from "../explain.ts";
import type { LauncherProfile } from "../launcher-profile.ts";
import type { Step } from "../pod-draft.ts";

/** Values that Go reads as true. */
const yes: ReadonlySet<string> = new Set(["1", "t", "T", "true", "TRUE", "True"]);

/** The annotations that {@link backupHookAnnotations} sets, or leaves out. */
export const backupHookKeys = [
  "pre.hook.backup.velero.io/container",
  "pre.hook.backup.velero.io/command",
  "pre.hook.backup.velero.io/timeout",
  "post.hook.backup.velero.io/container",
  "post.hook.backup.velero.io/command",
] as const;

/** The parts of a launcher Pod's guest that backups need. */
export interface BackedUpGuest {
  readonly name: string;
  readonly namespace: string;
  readonly annotations: Readonly<Record<string, string>>;
}

/**
 * Annotations that make Velero freeze the guest's file systems around a backup: none if an annotation of the
 * VMI or, by default, of the cluster says so.
 */
export function backupHookAnnotations(
  { name, namespace, annotations: own }: BackedUpGuest,
  { names, annotations: cluster }: Pick<ClusterConfig, "names" | "annotations">,
  { programs }: Pick<LauncherProfile, "programs">,
): Readonly<Record<string, string>> {
  const skip = names.annotations.skipBackupHooks;
  if (yes.has(own[skip] ?? cluster[skip] ?? "")) return {};
  const program = JSON.stringify(programs.freezer);
  const guest = `"--name", ${JSON.stringify(name)}, "--namespace", ${JSON.stringify(namespace)}`;
  const values: Record<(typeof backupHookKeys)[number], string> = {
    "pre.hook.backup.velero.io/container": computeName,
    "pre.hook.backup.velero.io/command": `[${program}, "--freeze", ${guest}]`,
    "pre.hook.backup.velero.io/timeout": "60s",
    "post.hook.backup.velero.io/container": computeName,
    "post.hook.backup.velero.io/command": `[${program}, "--unfreeze", ${guest}]`,
  };
  return values;
}

/** {@link backupHookAnnotations} on the Pod. */
export const backupHooks: Step = (request, draft) => {
  const hooks = backupHookAnnotations(request, request.config, request.profile);
  for (const [key, value] of Object.entries(hooks)) {
    draft.annotations[key] = value;
    request.explain?.(part.annotation(key), "rule", "backups freeze the guest's file systems");
  }
};
