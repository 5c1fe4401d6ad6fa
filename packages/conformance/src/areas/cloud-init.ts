import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { at } from "@virtkit/api/shape";
import {
  type CloudInitContent,
  type CloudInitMediaOptions,
  type CloudInitSource,
  cloudInitImage,
  cloudInitMedia,
  type DeviceMetadata,
  type DiskError,
  deviceMetadata,
  hasUserData,
  isDiskError,
  type MountedSecrets,
  readCloudInit,
  readLiveDevices,
  type Sealed,
  sealText,
} from "@virtkit/domain-manager/disks";
import type { BatchFunction } from "../batch/batch-area.ts";
import { InputError } from "./input-fields.ts";
import { vmAndVmiOf } from "./request.ts";

type Stage = "read" | "devices" | "generate";

/** The recorded answers were drawn from a source of random bytes that are all zero. */
const newUuid = () => "00000000-0000-4000-8000-000000000000";

/** The functions of area `cloud-init`. */
export const functions: Readonly<Record<string, BatchFunction>> = {
  files: (input, context) => {
    const vmi = vmiOf(input);
    return answer({ vmi }, (enter) => {
      enter("read");
      const data = readCloudInit(vmi, secretsOf(context), { newUuid });
      if (!data) return { cloudInit: false };
      enter("devices");
      const devices = devicesOf(vmi, context);
      enter("generate");
      const written = write(vmi, data, { devices });
      const volume = { volumeName: data.volumeName, isValidCloudInitData: hasUserData(data) };
      return { ...written, ...volume };
    });
  },

  generate: (input) => {
    const vmi = vmiOf(input);
    const text = (name: string) => String(at(input, name) ?? "");
    const source = text("dataSource") as CloudInitSource;
    return answer({ vmi, source }, (enter) => {
      enter("generate");
      const content = {
        source,
        userData: sealText(text("userData")),
        networkData: sealText(text("networkData")),
      };
      const written = write(vmi, content, { instanceType: text("instanceType"), newUuid });
      return { ...written, volumeName: "", isValidCloudInitData: false };
    });
  },
};

function vmiOf(input: unknown): VirtualMachineInstance {
  const { vmi } = vmAndVmiOf(input);
  if (!vmi?.metadata?.name) {
    throw new InputError("input.vmi.metadata.name", "is missing; pass a VMI");
  }
  return vmi;
}

function write(
  vmi: VirtualMachineInstance,
  content: CloudInitContent,
  options: CloudInitMediaOptions,
): object {
  const { label, files } = cloudInitMedia(vmi, content, options);
  return {
    dataSource: content.source,
    isoVolumeID: label,
    isoPath: cloudInitImage(vmi, content.source),
    files: Object.fromEntries(
      files.map((file) => [file.path, fileAnswer(file.path, file.content)]),
    ),
  };
}

function fileAnswer(path: string, content: Sealed<Uint8Array>): unknown {
  const bytes = Buffer.from(content.reveal());
  const text = bytes.toString("utf8");
  if (!Buffer.from(text).equals(bytes)) return { base64: bytes.toString("base64") };
  const isMetadata = path.endsWith("meta-data") || path.endsWith("meta_data.json");
  return isMetadata ? { text, json: JSON.parse(text) } : { text };
}

/** Files of mounted Secrets by directory, from a flat list of paths. */
function secretsOf(context: unknown): MountedSecrets {
  const secrets = new Map<string, Map<string, Sealed<Uint8Array>>>();
  for (const [path, text] of Object.entries(Object(at(context, "secretFiles")))) {
    const slash = path.indexOf("/");
    const directory = path.slice(0, Math.max(slash, 0));
    const files = secrets.get(directory) ?? new Map<string, Sealed<Uint8Array>>();
    secrets.set(directory, files.set(path.slice(slash + 1), sealText(String(text))));
  }
  return secrets;
}

function devicesOf(
  vmi: VirtualMachineInstance,
  context: unknown,
): readonly DeviceMetadata[] | null | undefined {
  const given = at(context, "devices");
  if (given !== undefined) return given as readonly DeviceMetadata[];
  const xml = at(context, "domainXML");
  if (xml === undefined) return undefined;
  const list = deviceMetadata(vmi, readLiveDevices(String(xml)), { gpusAsHostDevices: true });
  return list.length > 0 ? list : null;
}

/** Runs the stages; if one refuses, returns which, and why in KubeVirt's words. */
function answer(
  { vmi, source = "" }: { readonly vmi: VirtualMachineInstance; readonly source?: string },
  run: (enter: (stage: Stage) => void) => object,
): object {
  let stage = "read" as Stage;
  try {
    return run((entered) => {
      stage = entered;
    });
  } catch (error) {
    if (!isDiskError(error)) throw error;
    const text = stage === "generate" ? generateText(error, source) : readText(error, vmi);
    if (text === undefined) throw error;
    return { error: text, stage };
  }
}

function generateText({ code }: DiskError, source: string): string | undefined {
  if (code === "DISK_CLOUD_INIT_EMPTY") {
    return "UserData or NetworkData is required for cloud-init data source";
  }
  return code === "DISK_VMI_INVALID" ? `Invalid cloud-init data source: '${source}'` : undefined;
}

function readText(error: DiskError, vmi: VirtualMachineInstance): string | undefined {
  const { code, message, offset, path = "" } = error;
  switch (code) {
    case "DISK_BASE64_INVALID":
      return `illegal base64 data at input byte ${offset}`;
    case "DISK_CLOUD_INIT_EMPTY":
      return "userDataBase64, userData, networkDataBase64 or networkData is required for a cloud-init data source";
    case "DISK_SOURCE_MISSING": {
      const volume = /^spec\.volumes\[(\d+)\]/.exec(path)?.[1];
      return volume === undefined
        ? `open <secrets>/${path}: no such file or directory`
        : `no cloud-init data-source found at volume: ${vmi.spec.volumes?.[Number(volume)]?.name}`;
    }
    case "DISK_DOMAIN_INVALID": {
      const line = /line (\d+): it ends too early/.exec(message)?.[1];
      return line && `XML syntax error on line ${line}: unexpected EOF`;
    }
    default:
      return undefined;
  }
}
