import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { attachCluster, createNamespace, testImages } from "@virtkit/lab/cluster";
import { afterAll, beforeAll, expect, test } from "vitest";
import { nothingIsLeft, running } from "./testing/expectations.ts";
import { guestsIn, reach } from "./testing/guests.ts";
import {
  type InstalledOperator,
  installOperator,
  patience,
  tellingWhy,
} from "./testing/installed-operator.ts";
import { nodeTraces } from "./testing/node-traces.ts";

const cluster = attachCluster();
const folder = fileURLToPath(new URL("../manifests/", import.meta.url));
let operator: InstalledOperator;
let before: string[];

beforeAll(async () => {
  const featureGates = ["GPU", "HostDevices", "NUMA"];
  operator = await installOperator(cluster, {
    developerConfiguration: { useEmulation: true, featureGates },
    permittedHostDevices: {
      pciHostDevices: [
        { pciVendorSelector: "10DE:20F1", resourceName: "nvidia.com/GA100_A100_PCIE_40GB" },
      ],
    },
  });
  before = await nodeTraces(cluster);
});

afterAll(async () => {
  await cluster.kubectl([
    ...["delete", "virtualmachineclusterinstancetypes,virtualmachineclusterpreferences", "--all"],
  ]);
  await operator[Symbol.asyncDispose]();
});

test("manifests of users are admitted; those whose guests can boot here run, and others say what is missing", async () => {
  await using namespace = await createNamespace(cluster);
  const guests = guestsIn(cluster, namespace.name);
  const files = readdirSync(folder).filter((name) => name.endsWith(".yaml"));
  await tellingWhy(cluster, async () => {
    // Nodes have the image by another name, and there is no registry.
    const texts = files.map((file) =>
      readFileSync(`${folder}${file}`, "utf8")
        .replaceAll("registry.example/virtkit/demo:latest", testImages.disk)
        .replaceAll(
          /image: (localhost\S+)/g,
          "image: $1\n            imagePullPolicy: IfNotPresent",
        ),
    );
    await cluster.kubectl(["apply", "-n", namespace.name, "-f", "-"], {
      input: texts.join("\n---\n"),
    });
    const field = (object: string, path: string): Promise<string> => guests.field(object, path);

    // The disk of this one would be filled by a project that is not installed.
    await expect
      .poll(() => field("vm/imported", ".status.conditions[*].message"), patience)
      .toMatch(/this cluster has no CDI/);
    // No node has huge pages, and the Pod says so.
    await expect
      .poll(() => field("vmi/appliance", ".status.conditions[*].message"), patience)
      .toMatch(/Insufficient hugepages-2Mi/);
    for (const name of ["windows", "bitlocker", "router", "dedicated", "training", "legacy"]) {
      await expect
        .poll(() => field(`vm/${name}`, ".status.printableStatus"), patience)
        .toBe("Stopped");
    }

    const web = await running(guests, "web");
    expect(await reach(web, "/hello")).toBe("served by cloud-init\n");
    await running(guests, "sized");
    expect(await field("vmi/sized", ".spec.domain.memory.guest")).toBe("192Mi");
    await running(guests, "database");
    await expect.poll(() => field("vmi/config-drive", ".status.phase"), patience).toBe("Running");
    const replicas = (): Promise<string> => field("vmirs/runners", ".status.readyReplicas");
    await expect.poll(replicas, patience).toBe("2");

    await guests.kubectl("delete", "vmirs,vm,vmi", "--all", "--wait=false");
    await nothingIsLeft(cluster, guests, before);
  });
});
