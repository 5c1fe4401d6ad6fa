import { mkdir } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { type Names, names } from "@virtkit/api/names";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { type Environment, prepareVmi, resolveContext } from "@virtkit/converter";
import type { PodFacts } from "@virtkit/converter/launcher";

type PodLink = NonNullable<PodFacts["podLinks"]>[string];

import { guestCommandLine, type Libvirtd, runProgram } from "@virtkit/lab";
import type { GuestControl, SyncRequest } from "../manager/guest-control.ts";
import { MayRun } from "../manager/may-run.ts";
import type { GuestIdentity } from "../manager/run-right.ts";

/** What a launcher has besides its daemon: its directories, as this process sees them. */
export interface LauncherRoom {
  readonly names: Names;
}

/**
 * Gives a daemon the directories of a launcher: below its own folder for this process, and at
 * KubeVirt's paths for the daemon and its guests, with the lab's kernel among them. They are
 * removed with the daemon.
 */
export async function launcherRoom(daemon: Libvirtd): Promise<LauncherRoom> {
  const root = `${daemon.directory}/launcher`;
  const roots = {
    share: `${root}/share`,
    private: `${root}/private`,
    ephemeralDisks: `${root}/ephemeral`,
    libvirt: `${root}/libvirt`,
  };
  const own = names({ directories: roots });
  const standard = names().directories;
  const { kernel, initrd } = await daemon.guest();
  const boot = `${own.directories.containerDisks}/kernel-boot`;
  for (const directory of [...Object.values(roots), boot, own.directories.hotplugDisks]) {
    await mkdir(directory, { recursive: true });
  }
  await runProgram("touch", [`${boot}/vmlinuz`, `${boot}/initrd`]);
  await runProgram("chown", ["-R", "107:107", root]);
  await daemon.runAsRoot("mount", "-t", "tmpfs", "-o", "mode=755", "launcher", "/run");
  for (const [name, path] of Object.entries(roots)) {
    const place = standard[name as keyof typeof roots];
    await daemon.runAsRoot("mkdir", "-p", place);
    await daemon.runAsRoot("mount", "--bind", path, place);
  }
  const seen = `${standard.containerDisks}/kernel-boot`;
  await daemon.runAsRoot("mount", "--bind", kernel, `${seen}/vmlinuz`);
  await daemon.runAsRoot("mount", "--bind", initrd, `${seen}/initrd`);
  await daemon.runAsRoot("mknod", "-m", "666", "/mnt/tun", "c", "10", "200");
  await daemon.runAsRoot("mount", "--bind", "/mnt/tun", "/dev/net/tun");
  return { names: own };
}

/** Creates TAPs as a node agent would: the daemon's user may open them. */
export async function createTaps(daemon: Libvirtd, ...taps: readonly string[]): Promise<void> {
  for (const tap of taps) {
    const owner = ["user", "107", "group", "107"];
    await daemon.runAsRoot("ip", "tuntap", "add", tap, "mode", "tap", "vnet_hdr", ...owner);
    await daemon.runAsRoot("ip", "link", "set", tap, "up");
  }
}

/** The Pod's own network, with its TAP. */
export const podLinks: Readonly<Record<string, PodLink>> = {
  eth0: { mac: "0a:58:0a:f4:00:01", mtu: 1500 },
  tap0: {},
};

/** A VMI that boots the lab's guest, with what a test adds. */
export function labVmi(
  identity: GuestIdentity,
  { domain = { devices: {} }, ...spec }: Partial<VirtualMachineInstance["spec"]> = {},
): VirtualMachineInstance {
  const container = { kernelPath: "/vmlinuz", initrdPath: "/initrd", image: "lab" };
  const kernelArgs = `${guestCommandLine} hb=none`;
  return {
    apiVersion: "kubevirt.io/v1",
    kind: "VirtualMachineInstance",
    metadata: { namespace: identity.namespace, name: identity.name, uid: identity.vmiUid },
    spec: {
      ...spec,
      domain: {
        memory: { guest: "256Mi" },
        cpu: { cores: 1, model: "qemu64" },
        ...domain,
        firmware: {
          uuid: uuidOf(identity),
          kernelBoot: { container, kernelArgs },
          ...domain.firmware,
        },
        devices: { ...domain.devices },
      },
    },
  } as VirtualMachineInstance;
}

/** UUIDs of two guests differ as their UIDs do. */
function uuidOf({ vmiUid }: GuestIdentity): string {
  return /^[0-9a-f-]{36}$/.test(vmiUid) ? vmiUid : "5d307ca9-b3ef-428c-8861-06e72d69f223";
}

/** What a node agent would send for a VMI: prepared, with its context, and the claim. */
export function syncRequest(
  identity: GuestIdentity,
  vmi: VirtualMachineInstance,
  {
    epoch = 1,
    pod = { podLinks },
    environment = {},
  }: { epoch?: number; pod?: PodFacts; environment?: Environment } = {},
): SyncRequest {
  const known: Environment = {
    allowEmulation: true,
    hypervisorDeviceAvailable: false,
    emulatorBinaries: ["/usr/bin/qemu-system-x86_64"],
    ...environment,
  };
  const prepared = prepareVmi(vmi, known);
  const mayRun = MayRun.fromAgent({ vmiUid: identity.vmiUid, podUid: identity.podUid, epoch });
  const context = resolveContext(prepared, known);
  return { vmi: prepared, context, mayRun, pod };
}

/** Waits until the guest's agent answers; after a boot or a pause that takes a while. */
export async function untilAgent(manager: GuestControl): Promise<void> {
  const end = Date.now() + 110_000;
  for (;;) {
    try {
      return await manager.guestPing({ timeoutSeconds: 5 });
    } catch (error) {
      if (Date.now() > end) throw error;
      await sleep(200);
    }
  }
}

/** Runs a shell command in the guest and returns its output; asks again while its agent comes up. */
export async function inGuest(manager: GuestControl, script: string): Promise<string> {
  await untilAgent(manager);
  const args = ["-c", script];
  const { stdout } = await manager.exec({ command: "/bin/sh", args, timeoutSeconds: 60 });
  return stdout;
}
