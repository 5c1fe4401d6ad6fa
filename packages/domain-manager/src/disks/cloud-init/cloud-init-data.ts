import { type Names, names as wellKnownNames } from "@virtkit/api/names";
import { realRandom } from "@virtkit/api/random";
import type { VirtualMachineInstance, Volume } from "@virtkit/api/schema";
import { DiskError } from "../disk-error.ts";
import { guardVmi } from "../guard-vmi.ts";
import { accessCredentialDirectory } from "../mounted-secret-names.ts";
import { type MountedSecrets, topLevelFiles } from "../mounted-secrets.ts";
import { Sealed } from "../sealed.ts";
import { decodeBase64 } from "./decode-base64.ts";

/** The two forms in which cloud-init reads its data from a disk. */
export type CloudInitSource = "noCloud" | "configDrive";

/** What the guest learns about itself. */
export interface CloudInitMetadata {
  readonly instanceId: string;
  readonly instanceType: string;
  readonly hostname: string;
  /** Config drive only. */
  readonly uuid: string;
  /** In the order in which they get their numbers. */
  readonly publicKeys: readonly Sealed<string>[];
}

/** The content of a VMI's cloud-init volume. Printable: user and network data are sealed. */
export interface CloudInitData {
  readonly source: CloudInitSource;
  readonly volumeName: string;
  /** Empty if there is none. */
  readonly userData: Sealed<Uint8Array>;
  /** Empty if there is none. */
  readonly networkData: Sealed<Uint8Array>;
  readonly metadata: CloudInitMetadata;
}

/** Options of {@link readCloudInit}. */
export interface CloudInitOptions {
  /** Annotation names, if the platform has its own. */
  readonly names?: Names;
  /** For a VMI without firmware. Default: a random one. */
  readonly newUuid?: () => string;
}

/**
 * Reads the first cloud-init volume of a VMI; undefined if it has none.
 *
 * `secrets` are the mounted Secrets: a volume's Secret under the volume's name, an access
 * credential's under `<secret>-access-cred`. A Secret takes precedence over data in the VMI, and
 * plain text over base64. A Secret without the expected key is skipped as long as other data is
 * there.
 *
 * @example
 * ```ts
 * const secrets = await readSecrets(new DiskPaths().secrets, cloudInitSecretNames(vmi));
 * const data = readCloudInit(vmi, secrets);
 * if (data) await writeCloudInit(vmi, data);
 * ```
 *
 * @throws DiskError if a Secret with keys is not mounted, base64 is broken, or there is no data at all.
 */
export function readCloudInit(
  vmi: VirtualMachineInstance,
  secrets: MountedSecrets,
  { names = wellKnownNames(), newUuid = realRandom.uuid }: CloudInitOptions = {},
): CloudInitData | undefined {
  return guardVmi(vmi, () => read(vmi, secrets, names, newUuid));
}

function read(
  vmi: VirtualMachineInstance,
  secrets: MountedSecrets,
  names: Names,
  newUuid: () => string,
): CloudInitData | undefined {
  const volumes = vmi.spec.volumes ?? [];
  const index = volumes.findIndex((volume) => sourceOf(volume) !== undefined);
  const volume = volumes[index];
  const source = volume && sourceOf(volume);
  if (!volume || !source) return undefined;

  const publicKeys = readPublicKeys(vmi, source, secrets);
  const fromSecret = readSecretData(volumes, source, secrets);
  const { userData, networkData } = fromSecret?.volume === volume ? fromSecret : {};
  const path = `spec.volumes[${index}].${fieldOf(source)}`;
  const data = {
    userData: userData ?? inlineData(volume, source, "userData", path),
    networkData: networkData ?? inlineData(volume, source, "networkData", path),
  };
  if (data.userData.length === 0 && data.networkData.length === 0) {
    throw new DiskError(
      "DISK_CLOUD_INIT_EMPTY",
      `${path}: neither user data nor network data; set one of userData, userDataBase64, networkData, networkDataBase64 or a Secret that holds it`,
      { path },
    );
  }
  return {
    source,
    volumeName: volume.name,
    userData: new Sealed(data.userData),
    networkData: new Sealed(data.networkData),
    metadata: {
      ...guestIdentity(vmi, source, newUuid),
      instanceType: instanceTypeOf(vmi, names),
      hostname: guestHostname(vmi),
      publicKeys,
    },
  };
}

/** Whether the guest gets user data; KubeVirt checks this before it writes any. */
export function hasUserData({ userData }: CloudInitData): boolean {
  return userData.reveal().length > 0;
}

/** The VMI's instance type; the cluster's takes precedence over the namespace's. */
export function instanceTypeOf(vmi: VirtualMachineInstance, names: Names): string {
  const annotations = vmi.metadata?.annotations ?? {};
  return (
    annotations[names.annotations.clusterInstancetype] ||
    annotations[names.annotations.instancetype] ||
    ""
  );
}

/**
 * `instance-id` and UUID; a VMI without firmware gets a new UUID, one with firmware keeps its own.
 */
export function guestIdentity(
  vmi: VirtualMachineInstance,
  source: CloudInitSource,
  newUuid: () => string,
): { readonly instanceId: string; readonly uuid: string } {
  const { firmware } = vmi.spec.domain;
  const uuid = firmware ? (firmware.uuid ?? "") : newUuid();
  const { name = "", namespace = "" } = vmi.metadata ?? {};
  return { uuid, instanceId: source === "noCloud" ? uuid : `${name}.${namespace}` };
}

const longestLabel = 63;

/** `spec.hostname`, or the first label of the VMI's name. */
export function guestHostname({ metadata, spec }: VirtualMachineInstance): string {
  const [label = ""] = (metadata?.name ?? "").split(".");
  return spec.hostname || label.slice(0, longestLabel);
}

type CloudInitField = "cloudInitNoCloud" | "cloudInitConfigDrive";

function fieldOf(source: CloudInitSource): CloudInitField {
  return source === "noCloud" ? "cloudInitNoCloud" : "cloudInitConfigDrive";
}

function sourceOf(volume: Volume): CloudInitSource | undefined {
  if (volume.cloudInitNoCloud) return "noCloud";
  return volume.cloudInitConfigDrive ? "configDrive" : undefined;
}

function readPublicKeys(
  vmi: VirtualMachineInstance,
  source: CloudInitSource,
  secrets: MountedSecrets,
): Sealed<string>[] {
  const keys: Sealed<string>[] = [];
  for (const [at, { sshPublicKey }] of (vmi.spec.accessCredentials ?? []).entries()) {
    const secret = sshPublicKey?.source?.secret?.secretName;
    if (!secret || !sshPublicKey?.propagationMethod?.[source]) continue;
    const path = `spec.accessCredentials[${at}].sshPublicKey.source.secret.secretName`;
    for (const [, content] of topLevelFiles(secrets, accessCredentialDirectory(secret), path)) {
      const key = new TextDecoder().decode(content.reveal());
      if (key !== "") keys.push(new Sealed(key));
    }
  }
  return keys;
}

interface SecretData {
  readonly volume: Volume;
  readonly userData?: Uint8Array;
  readonly networkData?: Uint8Array;
}

/**
 * The content of the Secrets of the first volume that names any. That need not be the volume whose
 * data is read; its Secrets must be mounted all the same.
 */
function readSecretData(
  volumes: readonly Volume[],
  source: CloudInitSource,
  secrets: MountedSecrets,
): SecretData | undefined {
  const field = fieldOf(source);
  const at = volumes.findIndex((v) => v[field]?.secretRef ?? v[field]?.networkDataSecretRef);
  const volume = volumes[at];
  if (!volume) return undefined;
  const files = secrets.get(volume.name);
  const firstOf = (wanted: boolean, ...spellings: readonly string[]) => {
    const name = wanted ? spellings.find((spelling) => files?.has(spelling)) : undefined;
    return name === undefined ? undefined : files?.get(name)?.reveal();
  };
  const refs = volume[field];
  const userData = firstOf(Boolean(refs?.secretRef), "userdata", "userData");
  const networkData = firstOf(Boolean(refs?.networkDataSecretRef), "networkdata", "networkData");
  if (refs?.secretRef && refs.networkDataSecretRef && !userData && !networkData) {
    const path = `spec.volumes[${at}].${field}.secretRef`;
    throw new DiskError(
      "DISK_SOURCE_MISSING",
      `${path}: neither Secret of volume "${volume.name}" is mounted with a key userdata or networkdata`,
      { path },
    );
  }
  return {
    volume,
    ...(userData?.length ? { userData } : {}),
    ...(networkData?.length ? { networkData } : {}),
  };
}

function inlineData(
  volume: Volume,
  source: CloudInitSource,
  kind: "userData" | "networkData",
  path: string,
): Uint8Array {
  const holder = volume[fieldOf(source)];
  const plain = holder?.[kind];
  if (plain) return new TextEncoder().encode(plain);
  const result = decodeBase64(holder?.[`${kind}Base64`] ?? "");
  if ("bytes" in result) return result.bytes;
  const field = `${path}.${kind}Base64`;
  throw new DiskError(
    "DISK_BASE64_INVALID",
    `${field}: not base64 from byte ${result.fault} on; encode the data again`,
    { path: field, offset: result.fault },
  );
}
