import { computeName } from "../containers/compute-container.ts";
import { part } from "../explain.ts";
import type { Step } from "../pod-draft.ts";

/** Values that Go reads as true. */
const yes: ReadonlySet<string> = new Set(["1", "t", "T", "true", "TRUE", "True"]);

/** Annotations that have Velero freeze the guest's file systems around a backup. */
export const backupHooks: Step = (request, draft) => {
  const { name, namespace, names, annotations: own, profile, explain } = request;
  if (yes.has(own[names.annotations.skipBackupHooks] ?? "")) return;
  const program = JSON.stringify(profile.programs.freezer);
  const guest = `"--name", ${JSON.stringify(name)}, "--namespace", ${JSON.stringify(namespace)}`;
  const set = (key: string, value: string): void => {
    draft.annotations[key] = value;
    explain?.(part.annotation(key), "rule", "backups freeze the guest's file systems");
  };
  set("pre.hook.backup.velero.io/container", computeName);
  set("pre.hook.backup.velero.io/command", `[${program}, "--freeze", ${guest}]`);
  set("pre.hook.backup.velero.io/timeout", "60s");
  set("post.hook.backup.velero.io/container", computeName);
  set("post.hook.backup.velero.io/command", `[${program}, "--unfreeze", ${guest}]`);
};
