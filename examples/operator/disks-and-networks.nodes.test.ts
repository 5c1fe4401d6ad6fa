import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { attachCluster, createNamespace, testImages } from "@virtkit/lab/cluster";
import { uninstall } from "@virtkit/operator";
import { afterAll, beforeAll, expect, test } from "vitest";
import { nothingIsLeft, running, runningAgain } from "./testing/expectations.ts";
import { askGuest, guestsIn, vmOf } from "./testing/guests.ts";
import {
  configure,
  installation,
  patience,
  type SharedOperator,
  sharedOperator,
  tellingWhy,
} from "./testing/installed-operator.ts";
import { nodeTraces } from "./testing/node-traces.ts";
import { sharedSecrets } from "./testing/tpm-identity.ts";

const cluster = attachCluster();
let operator: SharedOperator;
let before: string[];

beforeAll(async () => {
  operator = await sharedOperator(cluster);
  await configure(cluster, { vmStateStorageClass: "local" });
  await cluster.apply({
    ...{ apiVersion: "storage.k8s.io/v1", kind: "StorageClass", metadata: { name: "local" } },
    provisioner: "kubernetes.io/no-provisioner",
    volumeBindingMode: "WaitForFirstConsumer",
  });
  before = await nodeTraces(cluster);
});

afterAll(async () => {
  await configure(cluster, { vmStateStorageClass: null });
  await cluster.kubectl(["delete", "storageclass", "local"]);
  operator.close();
});

/** A volume on the disk of a node, as an administrator creates it. */
async function localVolume(name: string, node: string): Promise<AsyncDisposable> {
  const path = `/var/lib/kubelet/volumes-of-tests/${name}`;
  await cluster.runOnNode(node, "mkdir", ["-p", path]);
  const terms = [{ key: "kubernetes.io/hostname", operator: "In", values: [node] }];
  await cluster.apply({
    ...{ apiVersion: "v1", kind: "PersistentVolume", metadata: { name } },
    spec: {
      ...{ capacity: { storage: "64Mi" }, accessModes: ["ReadWriteOnce", "ReadWriteMany"] },
      ...{ storageClassName: "local", local: { path } },
      persistentVolumeReclaimPolicy: "Retain",
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: terms }] } },
    },
  });
  return {
    async [Symbol.asyncDispose]() {
      await cluster.kubectl(["delete", "pv", name, "--wait=false"]);
      await cluster.runOnNode(node, "rm", ["-rf", path]);
    },
  };
}

test("guests behind masquerade and on a bridge are reachable from a Pod on another node, and kubectl shows KubeVirt's columns", async () => {
  await using namespace = await createNamespace(cluster);
  const guests = guestsIn(cluster, namespace.name);
  await tellingWhy(cluster, async () => {
    await guests.apply(
      vmOf("hidden", { node: "node-1" }),
      vmOf("bridged", { node: "node-1", interfaces: [{ name: "default", bridge: {} }] }),
    );
    const [hidden, bridged] = [await running(guests, "hidden"), await running(guests, "bridged")];
    // Behind masquerade every guest has the same address; on a bridge it has that of its Pod.
    expect(await askGuest(hidden, "ip -o -4 addr show scope global")).toContain("10.0.2.2/24");
    expect(await askGuest(bridged, "ip -o -4 addr show scope global")).toContain(`${bridged}/`);

    const idle = ["sh", "-c", "trap 'exit 0' TERM; while :; do sleep 1 & wait $!; done"];
    const image = { image: testImages.launcher, imagePullPolicy: "Never" };
    const containers = [{ name: "main", ...image, command: idle }];
    await namespace.createPod("client", { nodeName: "node-2", containers });
    await namespace.untilReady("client");
    for (const address of [hidden, bridged]) {
      const ask = `fetch("http://${address}/").then((a) => a.text()).then(console.log)`;
      expect(await namespace.exec("client", "node", "-e", ask)).toMatch(/^boot_id=/);
    }
    await namespace.deletePod("client", 0);
    // Nothing would be left that could end them.
    const takenOut = uninstall({ client: operator.client, ...installation }).next();
    await expect(takenOut).rejects.toMatchObject({ code: "OPERATOR_VMS_EXIST" });

    const vms = (await guests.kubectl("get", "vm", "-o", "wide")).split("\n");
    expect(vms[0]).toMatch(/^NAME +AGE +STATUS +READY/);
    expect(vms.find((line) => line.startsWith("hidden"))).toMatch(/^hidden +\S+ +Running +True/);
    const vmis = async () => (await guests.kubectl("get", "vmi", "-o", "wide")).split("\n");
    expect((await vmis())[0]?.trim().split(/ {2,}/)).toEqual([
      ...["NAME", "AGE", "PHASE", "IP", "NODENAME", "READY", "LIVE-MIGRATABLE", "PAUSED"],
    ]);
    // The address is missing for a while if the guest's agent reported before the guest had one.
    await expect
      .poll(async () => (await vmis()).find((line) => line.startsWith("hidden")))
      .toMatch(
        new RegExp(`^hidden +\\S+ +Running +${hidden.replaceAll(".", "\\.")} +node-1 +True`),
      );
    await nothingIsLeft(cluster, guests, before);
  });
});

test("a guest gets disks from an image, a claim, a ConfigMap, a Secret and cloud-init, and finds its claim again after a restart", async () => {
  await using namespace = await createNamespace(cluster);
  await using _ = await localVolume(`data-${namespace.name}`, "node-2");
  const guests = guestsIn(cluster, namespace.name);
  await tellingWhy(cluster, async () => {
    await guests.apply(
      {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "settings" },
        data: { colour: "red" },
      },
      {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "key" },
        stringData: { word: "sesame" },
      },
      {
        ...{ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "data" } },
        spec: {
          ...{ accessModes: ["ReadWriteOnce"], storageClassName: "local" },
          resources: { requests: { storage: "64Mi" } },
        },
      },
      vmOf("disks", {
        disks: ["data", "settings", "key"].map((name) => ({ name, disk: { bus: "virtio" } })),
        volumes: [
          { name: "data", persistentVolumeClaim: { claimName: "data" } },
          { name: "settings", configMap: { name: "settings" } },
          { name: "key", secret: { secretName: "key" } },
        ],
      }),
    );
    const address = await running(guests, "disks");
    // In the order of the manifest: root, init, data, settings, key.
    expect(await askGuest(address, "cat /mnt/vdd/colour /mnt/vde/word")).toBe("redsesame");
    expect(await askGuest(address, "cat /mnt/vdb/meta-data")).toContain("disks");
    const write = "echo kept | dd of=/dev/vdc conv=notrunc 2>/dev/null; sync; head -c 4 /dev/vdc";
    expect(await askGuest(address, write)).toBe("kept");

    const uid = await guests.field("vmi/disks", ".metadata.uid");
    expect(await guests.verb("vm/disks", "restart")).toBe(202);
    const again = await runningAgain(guests, "disks", uid);
    expect(await askGuest(again, "head -c 4 /dev/vdc")).toBe("kept");
    await nothingIsLeft(cluster, guests, before);
    await guests.kubectl("delete", "pvc", "data");
  });
});

/** The state of a TPM that is made now. */
async function anotherTpm(): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), "virtkit-tpm-"));
  try {
    await promisify(execFile)("swtpm_setup", ["--tpm2", "--tpmstate", folder, "--create-ek-cert"]);
    return await readFile(join(folder, "tpm2-00.permall"));
  } finally {
    await rm(folder, { recursive: true });
  }
}

test("a guest with EFI and a TPM gets the same file of variables and the same TPM from its own claim after a restart", async () => {
  await using namespace = await createNamespace(cluster);
  await using _ = await localVolume(`state-${namespace.name}`, "node-1");
  const guests = guestsIn(cluster, namespace.name);
  await tellingWhy(cluster, async () => {
    await guests.apply(
      vmOf("windows", {
        domain: {
          memory: { guest: "192Mi" },
          features: { acpi: {}, smm: { enabled: true } },
          firmware: { bootloader: { efi: { secureBoot: false, persistent: true } } },
        },
        devices: { tpm: { persistent: true } },
      }),
    );
    const phase = (): Promise<string> => guests.field("vmi/windows", ".status.phase");
    await expect.poll(phase, patience).toBe("Running");
    const path = `/var/lib/kubelet/volumes-of-tests/state-${namespace.name}`;
    const onNode = async (script: string): Promise<string> =>
      (await cluster.runOnNode("node-1", "sh", ["-c", script])).trim();
    const find = (name: string): Promise<string> =>
      onNode(`find ${path} -type f -size +0 -path '*${name}'`);
    await expect.poll(() => find("tpm2-00.permall"), patience).not.toBe("");
    const tpm = async (): Promise<Buffer> =>
      Buffer.from(await onNode(`base64 -w0 ${await find("tpm2-00.permall")}`), "base64");
    const tpmBefore = await tpm();
    const uid = await guests.field("vmi/windows", ".metadata.uid");
    expect(await guests.verb("vm/windows", "stop", { gracePeriod: 0 })).toBe(202);
    await expect.poll(() => guests.objects("vmi", "pod"), patience).toEqual([]);
    // The end of the file is spare room that no boot of these guests uses. A file that is made anew does not have the marker.
    const variables = await find("nvram/*_VARS.fd");
    const marker = "kept-by-the-test";
    const tail = `tail -c ${marker.length} '${variables}'`;
    expect(await onNode(`${tail} | od -An -tx1`)).toMatch(/^(ff ?)+$/);
    await onNode(
      `printf %s ${marker} | dd of='${variables}' bs=1 conv=notrunc seek=$(( $(stat -c %s '${variables}') - ${marker.length} ))`,
    );
    expect(await guests.verb("vm/windows", "start")).toBe(202);
    await expect
      .poll(() => guests.field("vmi/windows", ".metadata.uid"), patience)
      .not.toMatch(new RegExp(`^(${uid})?$`));
    await expect.poll(phase, patience).toBe("Running");
    expect(await find("nvram/*_VARS.fd")).toBe(variables);
    expect(await onNode(tail)).toBe(marker);
    // Its state is rewritten at each start, but its seeds and keys are the same. The control: another TPM has its own.
    expect(sharedSecrets(tpmBefore, await tpm())).toBeGreaterThan(0.8);
    expect(sharedSecrets(tpmBefore, await anotherTpm())).toBeLessThan(0.5);
    await nothingIsLeft(cluster, guests, before);
  });
});
