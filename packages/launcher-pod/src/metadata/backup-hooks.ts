import { computeName } from "../containers/compute-container.ts";
import { part } from "../explain.ts";
import type { Step } from "../pod-draft.ts";
import { annotations } from "../well-known.ts";

/** Values that Go reads as true. */
const yes: ReadonlySet<string> = new Set(["1", "t", "T", "true", "TRUE", "True"]);

/** Annotations that have Velero freeze the guest's file systems around a backup. */
export const backupHooks: Step = (
  { name, namespace, annotations: own, profile, explain },
  draft,
) => {
  if (yes.has(own[annotations.skipBackupHooks] ?? "")) return;
  const command = (verb: string): string => {
    const words = [profile.programs.freezer, verb, "--name", name, "--namespace", namespace];
    return `[${words.map((word) => JSON.stringify(word)).join(", ")}]`;
  };
  const hooks = {
    "pre.hook.backup.velero.io/container": computeName,
    "pre.hook.backup.velero.io/command": command("--freeze"),
    "pre.hook.backup.velero.io/timeout": "60s",
    "post.hook.backup.velero.io/container": computeName,
    "post.hook.backup.velero.io/command": command("--unfreeze"),
  };
  for (const [key, value] of Object.entries(hooks)) {
    draft.annotations[key] = value;
    explain?.(part.annotation(key), "rule", "backups freeze the guest's file systems");
  }
};
