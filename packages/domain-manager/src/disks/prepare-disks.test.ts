import { readdir, readFile, writeFile } from "node:fs/promises";
import { inspect } from "node:util";
import { type Names, names } from "@virtkit/api/names";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { readIso } from "../testing/read-iso.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../testing/temporary-directory.ts";
import { readCloudInit } from "./cloud-init/cloud-init-data.ts";
import { readSecrets } from "./files/read-secrets.ts";
import { readImageInfo } from "./image/read-image-info.ts";
import { cloudInitSecretNames } from "./mounted-secret-names.ts";
import { planDisks } from "./plan-disks.ts";
import { prepareDisks, writeCloudInit } from "./prepare-disks.ts";

type Volumes = NonNullable<VirtualMachineInstance["spec"]["volumes"]>;

function vmi(volumes: Volumes): VirtualMachineInstance {
  const disks = volumes.map(({ name }) => ({ name }));
  return {
    metadata: { name: "vm1", namespace: "ns" },
    spec: { domain: { devices: { disks }, firmware: { uuid: "u" } }, volumes },
  };
}

/** A platform whose directories are all below one. */
function platform({ path }: TemporaryDirectory): Names {
  const directories = {
    share: `${path}/share`,
    private: `${path}/private`,
    ephemeralDisks: `${path}/ephemeral`,
    libvirt: `${path}/libvirt`,
  };
  return names({ directories });
}

test("makes a volume's files an image that the guest finds by its label", async () => {
  const directory = await temporaryDirectory();
  await directory.fill({
    "private/config-map/cm/a.conf": "A",
    "private/config-map/cm/..data/x": "no",
  });
  const steps = planDisks(vmi([{ name: "cm", configMap: { name: "x" } }]), {
    names: platform(directory),
  });
  await prepareDisks(steps);
  await prepareDisks(steps);
  const image = await readFile(`${directory.path}/private/config-map-disks/cm.iso`);
  const { label, entries } = readIso(image, "joliet");
  expect(label).toBe("cfgdata");
  expect([...entries]).toEqual([["a.conf", { content: "A" }]]);
});

test("the error for a volume that is not mounted names volume and place", async () => {
  const directory = await temporaryDirectory();
  const steps = planDisks(vmi([{ name: "s", secret: {} }]), { names: platform(directory) });
  await expect(prepareDisks(steps)).rejects.toThrow(
    /volume "s": nothing is mounted at .*secret\/s/,
  );
});

test("sysprep needs an answer file, in whatever case", async () => {
  const directory = await temporaryDirectory();
  const subject = vmi([{ name: "w", sysprep: { configMap: { name: "x" } } }]);
  const steps = planDisks(subject, { names: platform(directory) });
  await directory.fill({ "private/sysprep/w/other.xml": "" });
  await expect(prepareDisks(steps)).rejects.toThrow(/autounattend.xml or unattend.xml/);
  await directory.fill({ "private/sysprep/w/Unattend.XML": "" });
  await prepareDisks(steps);
});

test("keeps overlays and empty disks, which hold what the guest wrote", async () => {
  const directory = await temporaryDirectory();
  await directory.fill({ "share/container-disks/disk_0.img": "x".repeat(1024) });
  const subject = vmi([
    { name: "c", containerDisk: { image: "x" } },
    { name: "n", emptyDisk: { capacity: "1Gi" } },
  ]);
  const steps = planDisks(subject, { names: platform(directory) });
  await prepareDisks(steps);
  const [overlay, empty] = steps.map(({ path }) => path);
  const bytes = await readFile(overlay ?? "");
  expect(bytes.readBigUInt64BE(24)).toBe(1024n);
  expect(bytes.includes(`${directory.path}/share/container-disks/disk_0.img`)).toBe(true);
  expect(await readImageInfo(empty ?? "")).toEqual({ format: "qcow2", virtualSize: 1n << 30n });
  await writeFile(overlay ?? "", "written");
  await prepareDisks(steps);
  expect(await readFile(overlay ?? "", "utf8")).toBe("written");
});

test("rejects a container disk that names a file of the host; an ephemeral claim is raw whatever it holds", async () => {
  const directory = await temporaryDirectory();
  const header = Buffer.alloc(512);
  header.write("QFI\xfb\0\0\0\x03", 0, "latin1");
  header.writeBigUInt64BE(200n, 8);
  const text = header.toString("latin1");
  const fill = { "share/container-disks/disk_0.img": "", "private/vmi-disks/e/disk.img": "" };
  await directory.fill(fill);
  for (const name of Object.keys(fill))
    await writeFile(`${directory.path}/${name}`, text, "latin1");
  const container = planDisks(vmi([{ name: "c", containerDisk: { image: "x" } }]), {
    names: platform(directory),
  });
  await expect(prepareDisks(container)).rejects.toMatchObject({ code: "DISK_SOURCE_REFUSED" });
  const ephemeral = planDisks(vmi([{ name: "e", ephemeral: {} }]), { names: platform(directory) });
  await prepareDisks(ephemeral);
  expect((await readFile(ephemeral[0]?.path ?? "")).toString("latin1", 112, 115)).toBe("raw");
});

test("writes ignition, metrics and blanks to their own files", async () => {
  const directory = await temporaryDirectory();
  const subject = vmi([
    { name: "m", downwardMetrics: {} },
    { name: "cm", configMap: {} },
  ]);
  const annotations = { "kubevirt.io/ignitiondata": "{}" };
  const status = { volumeStatus: [{ name: "cm", target: "", size: 4096 }] };
  const steps = planDisks(
    { ...subject, status, metadata: { ...subject.metadata, annotations } },
    { names: platform(directory), blankMedia: true },
  );
  await prepareDisks(steps);
  const read = await Promise.all(steps.map(async ({ path }) => await readFile(path)));
  expect(read.map(({ length }) => length)).toEqual([2, 256 << 10, 4096]);
  expect(read[1]?.toString("latin1", 0, 4)).toBe("mvbd");
});

test("cloud-init data from a mounted Secret reaches only the medium", async () => {
  const directory = await temporaryDirectory();
  const own = platform(directory);
  await directory.fill({
    "private/secret/ci/..data": "-> ..1",
    "private/secret/ci/..1/userdata": "password: hunter2",
    "private/secret/ci/userdata": "-> ..data/userdata",
  });
  const subject = vmi([{ name: "ci", cloudInitNoCloud: { secretRef: { name: "s" } } }]);
  const secrets = await readSecrets(
    `${directory.path}/private/secret`,
    cloudInitSecretNames(subject),
  );
  const data = readCloudInit(subject, secrets, { names: own });
  if (!data) throw new Error("no cloud-init data");
  const path = await writeCloudInit(subject, data, { names: own });
  expect(path).toBe(`${directory.path}/ephemeral/cloud-init-data/ns/vm1/noCloud.iso`);
  const { label, entries } = readIso(await readFile(path), "rockRidge");
  expect(label).toBe("cidata");
  expect(entries.get("user-data")).toEqual({ content: "password: hunter2", mode: 0o100400 });
  // An error on the way names the place, and nothing of what was to be written.
  const blocked = names({ directories: { ephemeralDisks: path } });
  const error = await writeCloudInit(subject, data, { names: blocked }).catch(
    (caught: unknown) => caught,
  );
  expect(error).toMatchObject({ name: "DiskError", path: expect.stringContaining("noCloud.iso") });
  expect(inspect(error, { depth: 9, showHidden: true })).not.toContain("hunter2");
});

test("an aborted caller gets no further disks", async () => {
  const directory = await temporaryDirectory();
  const steps = planDisks(vmi([{ name: "n", emptyDisk: { capacity: "1Gi" } }]), {
    names: platform(directory),
  });
  await expect(prepareDisks(steps, { signal: AbortSignal.abort() })).rejects.toMatchObject({
    code: "DISK_ABORTED",
  });
  expect(await readdir(directory.path)).toEqual([]);
});
