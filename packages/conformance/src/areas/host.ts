import { at } from "@virtkit/api/shape";
import { isHostError } from "@virtkit/host-primitives";
import { managedCgroupPath, miscCapacity } from "@virtkit/host-primitives/cgroups";
import {
  cgroupsToChange,
  type DeviceDirectory,
  type DeviceRule,
  type DeviceRuleVersion,
  defaultDeviceRules,
  deviceRulesForV1,
  initialDeviceRulesForV2,
  launcherDeviceRules,
  mergeDeviceRules,
  type VmiVolumes,
  volumesFromStart,
} from "@virtkit/host-primitives/device-rules";
import { mayContainMount } from "@virtkit/host-primitives/mounts";
import { launcherSeccompProfile } from "@virtkit/host-primitives/seccomp";
import { selinuxModeOf } from "@virtkit/host-primitives/selinux";
import type { BatchFunction } from "../batch/batch-area.ts";
import { guardVmis } from "./guard-vmis.ts";
import {
  InputError,
  listField,
  objectField,
  objectsOf,
  stringField,
  textField,
} from "./input-fields.ts";
import { memlockSize } from "./memlock-size.ts";

/** The pure functions of `@virtkit/host-primitives`. */
export const functions: Readonly<Record<string, BatchFunction>> = {
  "cgroup-default-rules": (_, context) => {
    const version = ruleVersion(context);
    return { rules: defaultDeviceRules(version), unified: version === "v2" };
  },
  "cgroup-vmi-rules": (input, context) => vmiRules(input, ruleVersion(context)),
  "cgroup-v2-set": setOnV2,
  "cgroup-v1-set": (input) => {
    const none = at(input, "current") === undefined;
    const current = none ? undefined : listField<DeviceRule>(input, "current");
    return { applied: deviceRulesForV1(current, listField(input, "request")) };
  },
  "cgroup-manager-path": (input) => ({ path: managedCgroupPath(stringField(input, "path")) }),
  "cgroup-misc-capacity": (input) => {
    const [content, key] = [stringField(input, "content"), stringField(input, "key")];
    return capacity(content, key);
  },
  "seccomp-profile": () => ({ profile: launcherSeccompProfile() }),
  "selinux-present": selinuxPresent,
  "memlock-size": memlockSize,
  "mounts-filter": mountsFilter,
};

interface FileInput {
  readonly type: string;
  readonly major?: number;
  readonly minor?: number;
}

function ruleVersion(context: unknown): DeviceRuleVersion {
  const { cgroupVersion } = Object(context) as { cgroupVersion?: unknown };
  return cgroupVersion === "v1" ? "v1" : "v2";
}

/** Each request is merged over the rules of the previous one; a request without a list ends the run. */
function setOnV2(input: unknown): unknown {
  const directory = stringField(input, "dir");
  let rules = initialDeviceRulesForV2(listField(input, "vmiRules"));
  const applied: DeviceRule[][] = [];
  let paths: unknown = null;
  for (const [index, request] of requestsOf(input).entries()) {
    if (request === null)
      return { applied, error: `input.sets[${index}] is null; pass a list`, paths };
    rules = mergeDeviceRules(rules, objectsOf(request, `input.sets[${index}]`));
    applied.push(rules);
    paths = cgroupsToChange(directory);
  }
  return { applied, paths };
}

function requestsOf(input: unknown): readonly unknown[] {
  const sets = at(input, "sets") ?? [];
  if (Array.isArray(sets)) return sets;
  throw new InputError("input.sets", "is not a list; pass a list of lists of rules");
}

function vmiRules(input: unknown, version: DeviceRuleVersion): unknown {
  const vmi = objectField(input, "vmi") as VmiVolumes;
  const files = new FileTable(filesOf(input));
  const host = textField(input, "host");
  const devices = {
    volumes: guardVmis({ "input.vmi": vmi }, () => volumesFromStart(vmi, host)),
    randomNumbers: at(vmi, "spec", "domain", "devices", "rng") !== undefined,
    vsock: at(vmi, "spec", "domain", "devices", "autoattachVSOCK") === true,
    hypervisor: stringField(input, "hypervisorDevice"),
    allowEmulation: at(input, "allowEmulation") === true,
    version,
  };
  try {
    return { rules: launcherDeviceRules(devices, files) };
  } catch (error) {
    return { error: messageOf(error), rules: [] };
  }
}

function filesOf(input: unknown): Readonly<Record<string, FileInput>> {
  const files = Object(at(input, "files")) as Record<string, FileInput>;
  for (const name of Object.keys(files)) {
    if (at(files, name) instanceof Object) continue;
    throw new InputError(`input.files["${name}"]`, "is not an object; pass a file's type");
  }
  return files;
}

/** The table of a request as a file system. */
class FileTable implements DeviceDirectory {
  readonly #files: Readonly<Record<string, FileInput>>;

  constructor(files: Readonly<Record<string, FileInput>>) {
    this.#files = files;
  }

  stat(path: string): ReturnType<DeviceDirectory["stat"]> {
    if (!Object.hasOwn(this.#files, path)) return this.list(path) && { type: "other" };
    const { type, major = 0, minor = 0 } = this.#files[path] as FileInput;
    if (type === "error") throw new Error(`${path} cannot be inspected`);
    return type === "char" || type === "block" ? { type, major, minor } : { type: "other" };
  }

  list(path: string): ReturnType<DeviceDirectory["list"]> {
    const entries = new Map<string, boolean>();
    for (const [file, { type }] of Object.entries(this.#files)) {
      if (!file.startsWith(`${path}/`)) continue;
      const [name = "", ...deeper] = file.slice(path.length + 1).split("/");
      entries.set(name, deeper.length > 0 || type === "dir" || entries.get(name) === true);
    }
    if (entries.size === 0) return undefined;
    return [...entries].map(([name, directory]) => ({ name, directory }));
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function capacity(content: string, key: string): unknown {
  try {
    return { capacity: miscCapacity(content, key) };
  } catch (error) {
    if (!isHostError(error)) throw error;
    return { capacity: 0, error: error.message };
  }
}

/** How KubeVirt does it: through a helper in the host's mount namespace. Ours reads the kernel's file. */
const getenforce = ["/usr/bin/virt-chroot", "--mount", "/proc/1/ns/mnt", "selinux", "getenforce"];

function selinuxPresent(input: unknown): unknown {
  const output = textField(input, "output");
  const fail = at(input, "fail");
  if (!fail) return { command: getenforce, ...selinuxModeOf(output) };
  const error = typeof fail === "string" ? fail : "the helper could not run";
  const permissive = output === "permissive";
  return { command: getenforce, mode: output, present: false, permissive, error };
}

function mountsFilter(input: unknown): unknown {
  const hint = <K extends string>(name: K, field: string): Partial<Record<K, string>> =>
    at(input, field) === undefined
      ? {}
      : ({ [name]: textField(input, field) } as Partial<Record<K, string>>);
  const hints = {
    ...hint("source", "source"),
    ...hint("podUid", "podUID"),
    ...hint("kubeletPodsDirectory", "kubeletPodsDir"),
  };
  const contained = mayContainMount(mountOf(input, "child"), mountOf(input, "candidate"), hints);
  return { skip: !contained, stop: false };
}

function mountOf(input: unknown, name: string): Parameters<typeof mayContainMount>[0] {
  const mount = objectField(input, name);
  const text = (field: string): string => textField(mount, field, `input.${name}`);
  return {
    major: Number(at(mount, "Major") ?? 0),
    minor: Number(at(mount, "Minor") ?? 0),
    root: text("Root"),
    mountPoint: text("Mountpoint"),
    fileSystemType: text("FSType"),
    source: text("Source"),
  };
}
