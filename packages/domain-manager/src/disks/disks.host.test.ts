import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { names } from "@virtkit/api/names";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { type Libvirtd, runProgram, startLibvirtd } from "@virtkit/lab";
import { afterAll, beforeAll, expect, test } from "vitest";
import { GuestAgent } from "../agent/guest-agent.ts";
import type { DomainRef } from "../libvirt/event-hub.ts";
import { connectLibvirt, type Libvirt } from "../libvirt/libvirt.ts";
import { inGuest, startGuest } from "../testing/guest-fixture.ts";
import { applyAccess } from "./access/apply-access.ts";
import { planAccess } from "./access/plan-access.ts";
import { qemuAccessAgent } from "./access/qemu-access-agent.ts";
import { readCloudInit } from "./cloud-init/cloud-init-data.ts";
import { planDisks } from "./plan-disks.ts";
import { prepareDisks, writeCloudInit } from "./prepare-disks.ts";
import { sealText } from "./sealed.ts";

const owner = { uid: 107, gid: 107 };
const longKey = `k${"e".repeat(251)}y`;

let daemon: Libvirtd;
let libvirt: Libvirt;
let dom: DomainRef;

const vmi: VirtualMachineInstance = {
  metadata: { name: "vm1", namespace: "ns" },
  spec: {
    domain: {
      devices: { disks: ["ci", "cm", "base", "scratch"].map((name) => ({ name })) },
      firmware: { uuid: "5d307ca9-b3ef-428c-8861-06e72d69f223" },
    },
    volumes: [
      { name: "base", containerDisk: { image: "x" } },
      { name: "ci", cloudInitConfigDrive: { userData: "#cloud-config\nhostname: größe\n" } },
      { name: "cm", configMap: { name: "x" } },
      { name: "scratch", emptyDisk: { capacity: "64Mi" } },
    ],
    accessCredentials: [
      {
        sshPublicKey: {
          source: { secret: { secretName: "k" } },
          propagationMethod: { qemuGuestAgent: { users: ["root"] } },
        },
      },
    ],
  },
};

const disk = (path: string, format: string, target: string, readonly = false) =>
  `<disk type='file' device='disk'><driver name='qemu' type='${format}'/><source file='${path}'/>
   <target dev='${target}' bus='virtio'/>${readonly ? "<readonly/>" : ""}</disk>`;

beforeAll(async () => {
  daemon = await startLibvirtd();
  libvirt = await connectLibvirt({ uri: daemon.uri });
  const root = `${daemon.directory}/disks`;
  const directories = {
    share: `${root}/share`,
    private: `${root}/private`,
    ephemeralDisks: `${root}/ephemeral`,
    libvirt: `${root}/libvirt`,
  };
  const own = names({ directories });
  const base = `${own.directories.containerDisks}/disk_0.img`;
  const volume = `${own.directories.private}/config-map/cm`;
  await mkdir(own.directories.containerDisks, { recursive: true });
  await mkdir(`${volume}/sub`, { recursive: true });
  await runProgram("qemu-img", ["create", "-q", "-f", "raw", base, "32M"]);
  await runProgram("mkfs.ext4", ["-q", "-F", base]);
  await writeFile(`${volume}/app.conf`, "a=1\n", { mode: 0o644 });
  await writeFile(`${volume}/${longKey}`, "long\n", { mode: 0o400 });
  await writeFile(`${volume}/sub/名前`, "unicode\n");

  const steps = planDisks(vmi, { names: own });
  await prepareDisks(steps, { owner });
  const data = readCloudInit(vmi, new Map(), { names: own });
  if (!data) throw new Error("no cloud-init data");
  const cloudInit = await writeCloudInit(vmi, data, { names: own, owner });
  await runProgram("chown", ["-R", "107:107", root]);
  const path = (volumeName: string) =>
    steps.find((step) => "volume" in step && step.volume === volumeName)?.path ?? "";
  dom = await startGuest(daemon, libvirt, "vm1", {
    cmdline: "hb=none",
    devices: [
      disk(cloudInit, "raw", "vda", true),
      disk(path("cm"), "raw", "vdb", true),
      disk(path("base"), "qcow2", "vdc"),
      disk(path("scratch"), "qcow2", "vdd"),
    ].join(""),
  });
});

afterAll(async () => {
  await libvirt?.call("domainDestroy", { dom }).catch(() => {});
  await libvirt?.close();
  await daemon?.[Symbol.asyncDispose]();
});

test("a Linux guest reads cloud-init data", async () => {
  expect(await inGuest(libvirt, dom, "cd /mnt/vda && find . -type f | sort")).toBe(
    "./openstack/latest/meta_data.json\n./openstack/latest/user_data\n",
  );
  expect(await inGuest(libvirt, dom, "cat /mnt/vda/openstack/latest/user_data")).toBe(
    "#cloud-config\nhostname: größe\n",
  );
  expect(
    JSON.parse(await inGuest(libvirt, dom, "cat /mnt/vda/openstack/*/meta_data.json")),
  ).toEqual({
    instance_id: "vm1.ns",
    hostname: "vm1",
    uuid: "5d307ca9-b3ef-428c-8861-06e72d69f223",
  });
  const label = "dd if=/dev/vda bs=8 skip=4101 count=1 2>/dev/null";
  expect(await inGuest(libvirt, dom, label)).toBe("config-2");
});

test("preserves names, permissions and contents of a ConfigMap", async () => {
  const listed = await inGuest(
    libvirt,
    dom,
    "cd /mnt/vdb && find . -type f -exec stat -c '%a %u %n' {} + | sort",
  );
  expect(listed.trim().split("\n")).toEqual([
    `400 0 ./${longKey}`,
    "644 0 ./app.conf",
    "644 0 ./sub/名前",
  ]);
  expect(await inGuest(libvirt, dom, "cat /mnt/vdb/*/* /mnt/vdb/k*")).toBe("unicode\nlong\n");
});

test("an overlay takes what the guest writes, and the image below it stays unchanged", async () => {
  const base = `${daemon.directory}/disks/share/container-disks/disk_0.img`;
  const before = await readFile(base);
  await inGuest(libvirt, dom, "echo written > /mnt/vdc/file; sync");
  expect(await inGuest(libvirt, dom, "cat /mnt/vdc/file")).toBe("written\n");
  expect((await readFile(base)).equals(before)).toBe(true);
});

test("an empty disk has its size and keeps what is written to it", async () => {
  expect(await inGuest(libvirt, dom, "blockdev --getsize64 /dev/vdd")).toBe(`${64 << 20}\n`);
  await inGuest(
    libvirt,
    dom,
    "echo tail | dd of=/dev/vdd bs=1M seek=63 conv=notrunc; sync; echo 3 > /proc/sys/vm/drop_caches",
  );
  expect(
    await inGuest(libvirt, dom, "dd if=/dev/vdd bs=1M skip=63 count=1 2>/dev/null | head -c 5"),
  ).toBe("tail\n");
});

test("SSH keys reach the guest through its agent, and replace those that were there", async () => {
  const guest = qemuAccessAgent(new GuestAgent({ libvirt, dom }));
  for (const keys of ["ssh-ed25519 AAAA one\nssh-ed25519 BBBB two", "ssh-ed25519 CCCC three"]) {
    const secrets = new Map([["k-access-cred", new Map([["key", sealText(keys)]])]]);
    expect(await applyAccess(planAccess(vmi, secrets), guest)).toEqual({
      succeeded: true,
      message: "",
    });
    expect((await inGuest(libvirt, dom, "cat /root/.ssh/authorized_keys")).trim()).toBe(keys);
    expect(await inGuest(libvirt, dom, "stat -c '%a' /root/.ssh/authorized_keys")).toBe("600\n");
  }
});

test("a password reaches the guest through its agent", async () => {
  const guest = qemuAccessAgent(new GuestAgent({ libvirt, dom }));
  const source = { secret: { secretName: "p" } };
  const accessCredentials = [
    { userPassword: { source, propagationMethod: { qemuGuestAgent: {} } } },
  ];
  const secrets = new Map([["p-access-cred", new Map([["root", sealText("hunter2\n")]])]]);
  const plan = planAccess({ ...vmi, spec: { ...vmi.spec, accessCredentials } }, secrets);
  // The guest is busybox, which has no chpasswd; the agent runs the first in its PATH.
  const script = "#!/bin/sh\ncat > /tmp/told\n";
  await inGuest(libvirt, dom, `printf '${script}' > /sbin/chpasswd; chmod +x /sbin/chpasswd`);
  expect(await applyAccess(plan, guest)).toEqual({ succeeded: true, message: "" });
  expect(await inGuest(libvirt, dom, "cat /tmp/told")).toBe("root:hunter2\n");
});

test("what is created belongs only to QEMU's user", async () => {
  const file = await stat(`${daemon.directory}/disks/libvirt/empty-disks/scratch.qcow2`);
  expect([file.uid, file.gid, file.mode & 0o777]).toEqual([107, 107, 0o640]);
});
