import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { attachCluster, createNamespace, testImages } from "@virtkit/lab/cluster";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runningGuests } from "./testing/copies.ts";
import { nothingIsLeft, running } from "./testing/expectations.ts";
import { type GuestKind, type Guests, guestsIn } from "./testing/guests.ts";
import {
  patience,
  type SharedOperator,
  sharedOperator,
  tellingWhy,
} from "./testing/installed-operator.ts";
import { nodeTraces } from "./testing/node-traces.ts";

const cluster = attachCluster();
const folder = fileURLToPath(new URL("../manifests/", import.meta.url));
let operator: SharedOperator;

beforeAll(async () => {
  operator = await sharedOperator(cluster);
});

afterAll(() => operator?.close());

/** What happens to a manifest on nodes without KVM, huge pages, GPUs, CDI, Multus and a StorageClass. */
interface Outcome {
  /** The VMs or VMIs whose guests run. */
  readonly runs?: readonly string[];
  /** The object that says why its guest does not run, and the text of one of its conditions. */
  readonly says?: readonly [object: `${GuestKind}/${string}`, words: RegExp];
  /** The VM that must be started, because its manifest leaves it off. */
  readonly start?: string;
}

const outcomes: Readonly<Record<string, Outcome>> = {
  "cloud-image.yaml": { runs: ["web"] },
  "database.yaml": { runs: ["database"] },
  "instancetype-and-preference.yaml": { runs: ["sized"] },
  "legacy-running.yaml": { start: "legacy", runs: ["legacy"] },
  "replica-set.yaml": { runs: ["runners", "runners"] },
  "vmi-config-drive.yaml": { runs: ["config-drive"] },
  "boot-source.yaml": {
    start: "from-source",
    says: ["vm/from-source", /CDI, which fills DataVolumes, is not installed/],
  },
  "data-volume-template.yaml": {
    says: ["vm/imported", /CDI, which fills DataVolumes, is not installed/],
  },
  "several-networks.yaml": {
    start: "router",
    says: ["vm/router", /Multus, which gives Pods more networks, is not installed/],
  },
  "windows-persistent-state.yaml": {
    start: "bitlocker",
    says: ["vm/bitlocker", /there is no default StorageClass; set vmStateStorageClass/],
  },
  "windows.yaml": { start: "windows", says: ["vm/windows", /claim windows-system does not exist/] },
  "gpu.yaml": { start: "training", says: ["vm/training", /claim training-root does not exist/] },
  "huge-pages.yaml": { says: ["vmi/appliance", /Insufficient hugepages-2Mi/] },
  "cluster-instancetype.yaml": {
    start: "dedicated",
    says: ["vm/dedicated", /nodes are available: .*node affinity/],
  },
};

/** What the conditions of a VM or VMI say. */
async function conditionsOf(guests: Guests, object: `${GuestKind}/${string}`): Promise<string> {
  return await guests.field(object, ".status.conditions[*].message");
}

test("every manifest has an expectation", () => {
  const files = readdirSync(folder).filter((name) => name.endsWith(".yaml"));
  expect(Object.keys(outcomes).sort()).toEqual(files.sort());
});

test("manifests as users write them run where a guest can boot, and otherwise say why they cannot", async () => {
  await using namespace = await createNamespace(cluster);
  const guests = guestsIn(cluster, namespace.name);
  const before = await nodeTraces(cluster);
  await tellingWhy(cluster, async () => {
    for (const [file, { start }] of Object.entries(outcomes)) {
      // No registry is reachable from here: nodes have the guest's disk under another name.
      const text = readFileSync(`${folder}${file}`, "utf8");
      const input = text.replaceAll("registry.example/virtkit/demo:latest", testImages.disk);
      await cluster.kubectl(["apply", "-n", namespace.name, "-f", "-"], { input });
      if (start) expect(await guests.verb(`vm/${start}`, "start"), `start ${start}`).toBe(202);
    }
    for (const [file, { says }] of Object.entries(outcomes)) {
      if (!says) continue;
      const [object, words] = says;
      await expect
        .poll(() => conditionsOf(guests, object), { ...patience, message: file })
        .toMatch(words);
    }
    const wanted = Object.values(outcomes).flatMap(({ runs = [] }) => runs);
    const seen = (): readonly string[] =>
      runningGuests(namespace.name).map((name) => name.replace(/^(runners).*/, "$1"));
    await expect.poll(seen, patience).toEqual(wanted.toSorted());
    for (const name of ["web", "sized", "config-drive"]) await running(guests, name);
    const ready = (): Promise<string> => guests.field("vmirs/runners", ".status.readyReplicas");
    await expect.poll(ready, patience).toBe("2");

    await guests.kubectl("delete", "vmirs,vmi", "--all", "--wait=false");
    await nothingIsLeft(cluster, guests, before);
    await cluster.kubectl([
      ...["delete", "virtualmachineclusterinstancetype/example.dedicated"],
      "virtualmachineclusterpreference/example.server",
    ]);
  });
});
