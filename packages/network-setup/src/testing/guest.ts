import { mkdirSync } from "node:fs";
import { copyFile, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { guestDomainXml, type Libvirtd, runProgram, startLibvirtd } from "@virtkit/lab";
import type { DomainNic } from "../plan/domain-nic.ts";
import type { CniPod } from "./cni-pod.ts";

/** A guest that runs in a Pod. */
export type Guest = AsyncDisposable & {
  /** Runs a shell command in the guest, through its agent; rejects if it fails. */
  run(command: string): Promise<string>;
};

/** Starts libvirtd in the Pod and a guest with one interface, and waits for its agent. */
export async function startGuest(pod: CniPod, nic: DomainNic): Promise<Guest> {
  const daemon = await startLibvirtd({ network: { path: pod.path } });
  try {
    const disk = `${daemon.directory}/tools.img`;
    await copyFile(await dhcp6Disk(), disk);
    await runProgram("chown", ["107:107", disk]);
    const devices = `
      <disk type='file' device='disk'><driver name='qemu' type='raw'/><source file='${disk}'/>
        <target dev='vda' bus='virtio'/></disk>
      <interface type='ethernet'><mac address='${nic.mac}'/><target dev='${nic.target}' managed='no'/>
        <model type='virtio'/><mtu size='${nic.mtu}'/></interface>`;
    const xml = guestDomainXml({
      name: "vm",
      guest: await daemon.guest(),
      devices,
      cmdline: "hb=none",
    });
    await writeFile(`${daemon.directory}/vm.xml`, xml);
    await daemon.virsh("create", `${daemon.directory}/vm.xml`);
    await untilAgent(daemon);
  } catch (error) {
    await daemon[Symbol.asyncDispose]();
    throw error;
  }
  return {
    run: (command) => runInGuest(daemon, command),
    [Symbol.asyncDispose]: () => daemon[Symbol.asyncDispose](),
  };
}

/** Retries until it succeeds; throws the last failure after a while. */
export async function eventually<T>(attempt: () => Promise<T> | T, seconds = 60): Promise<T> {
  const end = Date.now() + seconds * 1_000;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > end) throw error;
      await sleep(200);
    }
  }
}

async function untilAgent(daemon: Libvirtd): Promise<void> {
  await eventually(() => agent(daemon, "guest-ping", {}), 90);
}

async function agent(daemon: Libvirtd, execute: string, args: object): Promise<unknown> {
  const command = JSON.stringify({ execute, arguments: args });
  const answer = await daemon.virsh("qemu-agent-command", "vm", command, "--timeout", "5");
  return (JSON.parse(answer) as { return: unknown }).return;
}

async function runInGuest(daemon: Libvirtd, command: string): Promise<string> {
  const started = await agent(daemon, "guest-exec", {
    path: "/bin/sh",
    arg: ["-c", `${command} 2>&1`],
    "capture-output": true,
  });
  const { pid } = started as { pid: number };
  for (;;) {
    const status = (await agent(daemon, "guest-exec-status", { pid })) as {
      exited: boolean;
      exitcode?: number;
      "out-data"?: string;
    };
    if (status.exited) {
      const output = Buffer.from(status["out-data"] ?? "", "base64").toString();
      if (status.exitcode !== 0) throw new Error(`${command}: ${status.exitcode}, ${output}`);
      return output;
    }
    await sleep(50);
  }
}

/**
 * A disk with Debian's wide-dhcpv6-client, because busybox has no DHCPv6; created once and kept.
 */
async function dhcp6Disk(): Promise<string> {
  const root = process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache");
  const directory = join(root, "virtkit", "guest-dhcp6");
  const image = join(directory, "tools.img");
  mkdirSync(directory, { recursive: true });
  const work = await mkdtemp(join(directory, "build-"));
  try {
    await copyFile(image, join(work, "probe")).catch(async () => {
      await runProgram("apt-get", ["download", "wide-dhcpv6-client", "libfl2"], {
        cwd: work,
        timeout: 300_000,
      });
      const script = `
        for deb in *.deb; do dpkg-deb -x "$deb" root; done
        mkdir tools
        cp root/usr/sbin/dhcp6c root/usr/lib/x86_64-linux-gnu/libfl.so.2 tools/
        printf 'interface eth0 { send ia-na 0; send rapid-commit; };\\nid-assoc na 0 { };\\n' > tools/dhcp6c.conf
        mke2fs -q -t ext4 -O ^has_journal -d tools new.img 4M`;
      await runProgram("sh", ["-ec", script], { cwd: work });
      await rename(join(work, "new.img"), image);
    });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return image;
}
