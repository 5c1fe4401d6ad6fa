import type { Volume } from "@virtkit/api/schema";
import { part } from "../explain.ts";
import type { LauncherRequest } from "../launcher-request.ts";
import type { PodDraft } from "../pod-draft.ts";

/**
 * Secrets with user data or network data for cloud-init. Each is mounted under both spellings of its key,
 * because it may have either.
 */
export function cloudInitVolumes(
  request: LauncherRequest,
  draft: PodDraft,
  volume: Volume,
  path: string,
): void {
  for (const kind of ["cloudInitNoCloud", "cloudInitConfigDrive"] as const) {
    const source = volume[kind];
    if (!source) continue;
    const { secretRef, networkDataSecretRef } = source;
    const from = `${path}.${kind}`;
    if (secretRef) addSecret(request, draft, volume.name, secretRef.name, userData, from);
    if (networkDataSecretRef) {
      addSecret(request, draft, volume.name, networkDataSecretRef.name, networkData, from);
    }
  }
}

interface DataKind {
  readonly suffix: string;
  readonly keys: readonly [string, string];
}

const userData: DataKind = { suffix: "udata", keys: ["userdata", "userData"] };
const networkData: DataKind = { suffix: "ndata", keys: ["networkdata", "networkData"] };

function addSecret(
  { profile, explain }: LauncherRequest,
  { volumes, mounts }: PodDraft,
  volumeName: string,
  secretName: string | undefined,
  { suffix, keys }: DataKind,
  path: string,
): void {
  const name = `${volumeName}-${suffix}`;
  volumes.push({ name, secret: secretName ? { secretName } : {} });
  for (const key of keys) {
    const mountPath = `${profile.directories.private}/secret/${volumeName}/${key}`;
    mounts.push({ name, readOnly: true, mountPath, subPath: key });
  }
  explain?.(part.volume(name), `vmi.${path}`, "the secret with data for cloud-init");
}
