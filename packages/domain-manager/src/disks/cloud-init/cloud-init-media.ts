import { goJson } from "@virtkit/api/go-json";
import { realRandom } from "@virtkit/api/random";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { DiskError } from "../disk-error.ts";
import { guardVmi } from "../guard-vmi.ts";
import type { Media, MediaFile } from "../media.ts";
import { type Sealed, sealText } from "../sealed.ts";
import { type CloudInitMetadata, type CloudInitSource, guestIdentity } from "./cloud-init-data.ts";
import { type DeviceMetadata, deviceMetadataJson } from "./device-metadata.ts";
import { jsonObject } from "./json-object.ts";

/** What {@link cloudInitMedia} writes; a {@link CloudInitData} is one. */
export interface CloudInitContent {
  readonly source: CloudInitSource;
  readonly userData: Sealed<Uint8Array>;
  readonly networkData: Sealed<Uint8Array>;
  /** Without it the guest only gets its identity. */
  readonly metadata?: CloudInitMetadata | undefined;
}

/** Options of {@link cloudInitMedia}. */
export interface CloudInitMediaOptions {
  /**
   * Config drive only: devices by their tags. `null` is written as such; undefined omits the field.
   */
  readonly devices?: readonly DeviceMetadata[] | null | undefined;
  /** Only for content without metadata. */
  readonly instanceType?: string | undefined;
  /** Only for content without metadata and a VMI without firmware. */
  readonly newUuid?: () => string;
}

interface Form {
  readonly label: string;
  readonly directory: string;
  readonly files: { readonly meta: string; readonly user: string; readonly network: string };
  /** File of the ISO image below the guest's directory. */
  readonly image: string;
}

const forms: Readonly<Record<CloudInitSource, Form>> = {
  noCloud: {
    label: "cidata",
    directory: "",
    files: { meta: "meta-data", user: "user-data", network: "network-config" },
    image: "noCloud.iso",
  },
  configDrive: {
    label: "config-2",
    directory: "openstack/latest/",
    files: { meta: "meta_data.json", user: "user_data", network: "network_data.json" },
    image: "configdrive.iso",
  },
};

/** Only root of the guest reads it: it holds passwords. */
const mode = 0o400;

/**
 * The files of a cloud-init medium. User data is always there, even if empty; network data only if
 * there is any.
 *
 * @throws DiskError if both are missing, the source is unknown, or the VMI has another shape.
 */
export function cloudInitMedia(
  vmi: VirtualMachineInstance,
  { source, userData, networkData, metadata }: CloudInitContent,
  { devices, instanceType = "", newUuid = realRandom.uuid }: CloudInitMediaOptions = {},
): Media {
  const form = formOf(source);
  const { directory, files } = form;
  if (userData.reveal().length === 0 && networkData.reveal().length === 0) {
    throw new DiskError("DISK_CLOUD_INIT_EMPTY", "cloud-init: neither user data nor network data");
  }
  const facts = metadata ?? {
    ...guardVmi(vmi, () => guestIdentity(vmi, source, newUuid)),
    instanceType,
    hostname: "",
    publicKeys: [],
  };
  const meta = source === "noCloud" ? noCloudJson(facts) : configDriveJson(facts, devices);
  const list: MediaFile[] = [
    { path: directory + files.meta, content: sealText(meta), mode },
    { path: directory + files.user, content: userData, mode },
  ];
  if (networkData.reveal().length > 0) {
    list.push({ path: directory + files.network, content: networkData, mode });
  }
  return { label: form.label, files: list };
}

/** The ISO image below the directory of cloud-init data, such as `default/testvmi/noCloud.iso`. */
export function cloudInitImage(
  { metadata }: VirtualMachineInstance,
  source: CloudInitSource,
): string {
  const parts = [metadata?.namespace, metadata?.name, formOf(source).image];
  return parts.filter((part) => part !== undefined && part !== "").join("/");
}

function formOf(source: CloudInitSource): Form {
  if (source === "noCloud" || source === "configDrive") return forms[source];
  throw new DiskError(
    "DISK_VMI_INVALID",
    `cloud-init: ${JSON.stringify(source)} is not a data source; use noCloud or configDrive`,
  );
}

function noCloudJson(facts: CloudInitMetadata): string {
  return jsonObject([
    ["instance-type", unlessEmpty(facts.instanceType)],
    ["instance-id", goJson(facts.instanceId)],
    ["local-hostname", unlessEmpty(facts.hostname)],
    ["public-keys", publicKeysJson(facts.publicKeys)],
  ]);
}

function configDriveJson(
  facts: CloudInitMetadata,
  devices: readonly DeviceMetadata[] | null | undefined,
): string {
  return jsonObject([
    ["instance_type", unlessEmpty(facts.instanceType)],
    ["instance_id", goJson(facts.instanceId)],
    ["hostname", unlessEmpty(facts.hostname)],
    ["uuid", unlessEmpty(facts.uuid)],
    ["devices", devices === undefined ? undefined : deviceMetadataJson(devices)],
    ["public_keys", publicKeysJson(facts.publicKeys)],
  ]);
}

function unlessEmpty(text: string): string | undefined {
  return text === "" ? undefined : goJson(text);
}

/** Keys by number. Numbers are sorted as strings, as Go sorts the keys of a map. */
function publicKeysJson(keys: readonly Sealed<string>[]): string | undefined {
  if (keys.length === 0) return undefined;
  const fields = keys.map((key, at) => [String(at), goJson(key.reveal())] as const);
  return jsonObject(fields.sort(([a], [b]) => (a < b ? -1 : 1)));
}
