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
  type MachineVolumes,
  mergeDeviceRules,
  volumesFromStart,
} from "@virtkit/host-primitives/device-rules";
import { mayContainMount } from "@virtkit/host-primitives/mounts";
import { launcherSeccompProfile } from "@virtkit/host-primitives/seccomp";
import { selinuxModeOf } from "@virtkit/host-primitives/selinux";
import type { BatchFunction } from "./batch-area.ts";
import { stringField } from "./input-fields.ts";
import { memlockSize } from "./memlock-size.ts";

/** The pure functions of `@virtkit/host-primitives`. */
export const functions: Readonly<Record<string, BatchFunction>> = {
  "cgroup-default-rules": (_, context) => {
    const version = ruleVersion(context);
    return { rules: defaultDeviceRules(version), unified: version === "v2" };
  },
  "cgroup-vmi-rules": (input, context) => vmiRules(input as VmiRulesInput, ruleVersion(context)),
  "cgroup-v2-set": (input) => setOnV2(input as V2Input),
  "cgroup-v1-set": (input) => {
    const { current, request } = input as V1Input;
    return { applied: deviceRulesForV1(current ?? undefined, request ?? []) };
  },
  "cgroup-manager-path": (input) => ({ path: managedCgroupPath(stringField(input, "path")) }),
  "cgroup-misc-capacity": (input) => {
    const [content, key] = [stringField(input, "content"), stringField(input, "key")];
    return capacity(content, key);
  },
  "seccomp-profile": () => ({ profile: launcherSeccompProfile() }),
  "selinux-present": (input) => selinuxPresent(input as SelinuxInput),
  "memlock-size": memlockSize,
  "mounts-filter": (input) => mountsFilter(input as MountsInput),
};

interface V1Input {
  readonly current?: readonly DeviceRule[] | null;
  readonly request?: readonly DeviceRule[] | null;
}

interface V2Input {
  readonly dir: string;
  readonly vmiRules?: readonly DeviceRule[] | null;
  readonly sets?: readonly (readonly DeviceRule[] | null)[];
}

interface VmiRulesInput {
  readonly vmi: MachineVolumes & {
    readonly spec?: {
      readonly domain?: {
        readonly devices?: { readonly rng?: object; readonly autoattachVSOCK?: boolean };
      };
    };
  };
  readonly files?: Readonly<Record<string, FileInput>>;
  readonly host: string;
  readonly hypervisorDevice: string;
  readonly allowEmulation?: boolean;
}

interface FileInput {
  readonly type: string;
  readonly major?: number;
  readonly minor?: number;
}

interface SelinuxInput {
  readonly output?: string;
  readonly fail?: unknown;
}

interface MountInput {
  readonly Major: number;
  readonly Minor: number;
  readonly Root: string;
  readonly Mountpoint: string;
  readonly FSType: string;
  readonly Source: string;
}

interface MountsInput {
  readonly child: MountInput;
  readonly candidate: MountInput;
  readonly source?: string;
  readonly podUID?: string;
  readonly kubeletPodsDir?: string;
}

function ruleVersion(context: unknown): DeviceRuleVersion {
  const { cgroupVersion } = Object(context) as { cgroupVersion?: unknown };
  return cgroupVersion === "v1" ? "v1" : "v2";
}

/** Each request is merged over the rules of the one before; a request without a list ends the run. */
function setOnV2({ dir, vmiRules: ofMachine, sets = [] }: V2Input): unknown {
  let rules = initialDeviceRulesForV2(ofMachine ?? []);
  const applied: DeviceRule[][] = [];
  let paths: unknown = null;
  for (const [i, request] of sets.entries()) {
    if (request === null) return { applied, error: `input.sets[${i}] is null; give a list`, paths };
    rules = mergeDeviceRules(rules, request);
    applied.push(rules);
    paths = cgroupsToChange(dir);
  }
  return { applied, paths };
}

function vmiRules(input: VmiRulesInput, version: DeviceRuleVersion): unknown {
  const { vmi, files = {}, host, hypervisorDevice, allowEmulation = false } = input;
  const { rng, autoattachVSOCK } = vmi.spec?.domain?.devices ?? {};
  const devices = {
    volumes: volumesFromStart(vmi, host),
    randomNumbers: rng !== undefined && rng !== null,
    vsock: autoattachVSOCK === true,
    hypervisor: hypervisorDevice,
    allowEmulation,
    version,
  };
  try {
    return { rules: launcherDeviceRules(devices, new FileTable(files)) };
  } catch (error) {
    return { error: messageOf(error), rules: [] };
  }
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
    if (type === "error") throw new Error(`${path} cannot be looked at`);
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

/** How KubeVirt asks: through a helper in the host's mount namespace. Ours reads the kernel's file. */
const getenforce = ["/usr/bin/virt-chroot", "--mount", "/proc/1/ns/mnt", "selinux", "getenforce"];

function selinuxPresent({ output = "", fail }: SelinuxInput): unknown {
  if (!fail) return { command: getenforce, ...selinuxModeOf(output) };
  const error = typeof fail === "string" ? fail : "the helper could not run";
  const permissive = output === "permissive";
  return { command: getenforce, mode: output, present: false, permissive, error };
}

function mountsFilter({ child, candidate, source, podUID, kubeletPodsDir }: MountsInput): unknown {
  const comparable = (mount: MountInput) => ({
    major: mount.Major,
    minor: mount.Minor,
    root: mount.Root,
    mountPoint: mount.Mountpoint,
    fileSystemType: mount.FSType,
    source: mount.Source,
  });
  const hints = {
    ...(source !== undefined && { source }),
    ...(podUID !== undefined && { podUid: podUID }),
    ...(kubeletPodsDir !== undefined && { kubeletPodsDirectory: kubeletPodsDir }),
  };
  return { skip: !mayContainMount(comparable(child), comparable(candidate), hints), stop: false };
}
