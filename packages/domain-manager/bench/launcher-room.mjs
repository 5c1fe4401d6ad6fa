import { mkdirSync, rmSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { names } from "@virtkit/api/names";
import { prepareVmi, resolveContext } from "@virtkit/converter";
import { createDomainManager, MayRun } from "@virtkit/domain-manager";
import { connectLibvirt } from "@virtkit/domain-manager/libvirt";
import { runProgram, startLibvirtd } from "@virtkit/lab";

const identity = {
  namespace: "bench",
  name: "vm",
  vmiUid: "5d307ca9-b3ef-428c-8861-06e72d69f223",
  podUid: "pod",
};

/** A VMI with the usual parts: a network, cloud-init and a disk. */
const manifest = JSON.stringify({
  apiVersion: "kubevirt.io/v1",
  kind: "VirtualMachineInstance",
  metadata: { namespace: identity.namespace, name: identity.name, uid: identity.vmiUid },
  spec: {
    domain: {
      cpu: { model: "qemu64", cores: 1 },
      memory: { guest: "128Mi" },
      firmware: {
        uuid: identity.vmiUid,
        kernelBoot: {
          kernelArgs: "console=ttyS0 earlyprintk=ttyS0",
          container: { image: "lab", kernelPath: "/vmlinuz", initrdPath: "/initrd" },
        },
      },
      devices: {
        disks: [
          { name: "init", disk: {} },
          { name: "scratch", disk: {} },
        ],
        interfaces: [{ name: "default", masquerade: {} }],
      },
    },
    networks: [{ name: "default", pod: {} }],
    volumes: [
      { name: "init", cloudInitNoCloud: { userData: "#cloud-config\n" } },
      { name: "scratch", emptyDisk: { capacity: "1Gi" } },
    ],
  },
});

const environment = {
  allowEmulation: true,
  hypervisorDeviceAvailable: false,
  emulatorBinaries: ["/usr/bin/qemu-system-x86_64"],
};
const pod = { podLinks: { eth0: { mac: "0a:58:0a:f4:00:01", mtu: 1500 }, tap0: {} } };

/** What a node agent does with a manifest, up to what it sends to the launcher. */
export function requestOf() {
  const vmi = prepareVmi(JSON.parse(manifest), environment);
  const context = resolveContext(vmi, environment);
  const { vmiUid, podUid } = identity;
  return { vmi, context, pod, mayRun: MayRun.fromAgent({ vmiUid, podUid, epoch: 1 }) };
}

/** A daemon with the directories, kernel and TAP of a launcher, in its own sandbox. */
export async function startRoom() {
  const daemon = await startLibvirtd();
  const root = `${daemon.directory}/launcher`;
  const roots = {
    share: `${root}/share`,
    private: `${root}/private`,
    ephemeralDisks: `${root}/ephemeral`,
    libvirt: `${root}/libvirt`,
  };
  const own = names({ directories: roots });
  const standard = names().directories;
  const boot = `${own.directories.containerDisks}/kernel-boot`;
  for (const directory of [...Object.values(roots), boot])
    mkdirSync(directory, { recursive: true });
  const { kernel, initrd } = await daemon.guest();
  await runProgram("touch", [`${boot}/vmlinuz`, `${boot}/initrd`]);
  await runProgram("chown", ["-R", "107:107", root]);
  const places = [
    ...Object.entries(roots).map(([name, path]) => [path, Reflect.get(standard, name)]),
    [kernel, `${standard.containerDisks}/kernel-boot/vmlinuz`],
    [initrd, `${standard.containerDisks}/kernel-boot/initrd`],
    ["/mnt/tun", "/dev/net/tun"],
  ];
  const script = [
    "mount -t tmpfs -o mode=755 launcher /run",
    "mknod -m 666 /mnt/tun c 10 200",
    ...Object.keys(roots).map((name) => `mkdir -p ${Reflect.get(standard, name)}`),
    ...places.map(([from, to]) => `mount --bind ${from} ${to}`),
    "ip tuntap add tap0 mode tap vnet_hdr user 107 group 107",
  ].join(" && ");
  await daemon.runAsRoot("sh", "-c", script);
  const libvirt = await connectLibvirt({ uri: daemon.uri });
  const serialLog = `${own.sockets.serial(identity.vmiUid)}-log`;
  const domain = `${identity.namespace}_${identity.name}`;
  return {
    daemon,
    libvirt,
    domain,
    serialLog,
    /** @param {typeof libvirt} connection */
    manager: async (connection) =>
      await createDomainManager({
        libvirt: connection,
        identity,
        names: own,
        disks: { owner: { uid: 107, gid: 107 } },
      }),
    /** Ends the guest and removes it with everything that it wrote. */
    clear: async () => {
      await daemon.virsh("destroy", domain).catch(() => "");
      await daemon.virsh("undefine", domain).catch(() => "");
      rmSync(serialLog, { force: true });
      rmSync(own.directories.emptyDisks, { recursive: true, force: true });
    },
    close: async () => {
      await libvirt.close();
      await daemon[Symbol.asyncDispose]();
    },
  };
}

/** @param {string} file */
export async function firstLine(file) {
  while ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0) await sleep(2);
}
