import { readFileSync } from "node:fs";
import { HttpClient } from "@virtkit/kube";
import { attachCluster, createNamespace, testImages } from "@virtkit/lab/cluster";
import { install, uninstall } from "@virtkit/operator";
import { afterAll, beforeAll, expect, onTestFailed, test } from "vitest";
import { nothingIsLeft } from "./testing/expectations.ts";
import { keepsCounting, seeGuest } from "./testing/guest-damaged.ts";
import { guestsIn } from "./testing/guests.ts";
import { MigrationFaultLab, twoCases } from "./testing/migration-fault-lab.ts";
import { copyFast, untilCopying } from "./testing/migration-hold.ts";
import { addMigrationNetwork } from "./testing/migration-network.ts";
import { MovingVm, type MovingVmOptions, movingConfiguration } from "./testing/moving-vm.ts";
import { nodeTraces } from "./testing/node-traces.ts";
import { connectionsTo, qemusOfGuest } from "./testing/qemu-of-guest.ts";
import { RenewedVm, type StartedVm } from "./testing/renewed-vm.ts";
import { runVirtkit } from "./testing/run-virtkit.ts";

const cluster = attachCluster();
const installation = {
  image: testImages.launcher,
  imagePullPolicy: "IfNotPresent",
  stateDirectory: "/var/lib/kubelet/virtkit-migration",
  configuration: {
    developerConfiguration: { useEmulation: true },
    ...movingConfiguration,
  },
} as const;

function connect(): HttpClient {
  const { clusters, users } = JSON.parse(readFileSync(cluster.kubeconfig, "utf8"));
  const { server, "certificate-authority-data": data } = clusters[0].cluster;
  const headers = { authorization: `Bearer ${users[0].user.token}` };
  const tls = { ca: Buffer.from(data, "base64") };
  return new HttpClient({ server, credentials: async () => ({ headers, tls }) });
}

const client = connect();
const demo = new RenewedVm(startDemo);
const faults = new MigrationFaultLab(cluster);
/** A VM whose guest cannot move. */
let fixed: StartedVm;
let before: string[];

/** Starts a VM in a namespace of its own, and waits until it is as a test needs it. */
async function startVm(
  options: Omit<MovingVmOptions, "namespace">,
  ready: (vm: MovingVm) => Promise<void>,
): Promise<StartedVm> {
  const namespace = await createNamespace(cluster);
  const vm = new MovingVm(cluster, {
    ...{ namespace: namespace.name, evictionStrategy: "LiveMigrate" },
    ...options,
  });
  const end = async (): Promise<void> => {
    await vm.remove();
    await namespace[Symbol.asyncDispose]();
  };
  try {
    await vm.create();
    await vm.running();
    await ready(vm);
    return { vm, [Symbol.asyncDispose]: end };
  } catch (error) {
    process.stderr.write(`${await whatHappened(namespace.name)}\n`);
    await end();
    throw error;
  }
}

/** A guest that counts. */
async function startDemo(): Promise<StartedVm> {
  return await startVm({ name: "demo" }, async (vm) => {
    await vm.counting();
    await vm.nameImages();
  });
}

beforeAll(async () => {
  for await (const line of install({ client, ...installation, patience: 90_000 })) void line;
  before = await nodeTraces(cluster);
  const startFixed = startVm({ name: "fixed", accessMode: "ReadWriteOnce" }, async () => {});
  // Both boot at the same time.
  [fixed] = await Promise.all([startFixed, demo.use()]);
}, 240_000);

afterAll(async () => {
  await demo[Symbol.asyncDispose]();
  await faults[Symbol.asyncDispose]();
  for await (const line of uninstall({ client, ...installation, force: true })) void line;
  for (const node of cluster.nodes) {
    await cluster.runOnNode(node, "rm", ["-rf", installation.stateDirectory]);
  }
  client.close();
}, 240_000);

/** A test of the guest that counts. It runs once more with another guest if QEMU has damaged that one. */
function testDemo(name: string, act: (vm: MovingVm) => Promise<void>): void {
  test(name, { timeout: 480_000 }, async () => {
    onTestFailed(async () => void process.stderr.write(`${await whatHappened()}\n`));
    await demo.use(act);
  });
}

/** For people who look for the cause of a failure. */
async function whatHappened(namespace = demo.vm?.namespace ?? "default"): Promise<string> {
  const show = async (...args: readonly string[]): Promise<string> =>
    await cluster.kubectl(args).catch((error: unknown) => String(error));
  const logs = ["virt-controller", "virt-handler"].map((name) =>
    show("logs", "-n", "kubevirt", "-l", `kubevirt.io=${name}`, "--tail=40", "--prefix"),
  );
  return [
    await show("get", "pods", "-A", "-o", "wide"),
    ...(await Promise.all(logs)),
    await show(
      "logs",
      "-n",
      namespace,
      "-l",
      "kubevirt.io=virt-launcher",
      "--tail=40",
      "--prefix",
      "-c",
      "compute",
    ),
    await show("get", "vmi,vmim", "-A", "-o", "yaml"),
    await show("get", "nodes", "--show-labels"),
    await show("get", "events", "-n", namespace),
  ].join("\n");
}

test("a guest that must move but cannot is not evicted, and the reason is reported", async () => {
  onTestFailed(async () => void process.stderr.write(`${await whatHappened()}\n`));
  await using running = fixed;
  const { namespace } = running.vm;
  const [name = ""] = await running.vm.launchers();
  const evict = async (): Promise<unknown> =>
    await cluster.request(`/api/v1/namespaces/${namespace}/pods/${name}/eviction`, {
      method: "POST",
      body: { apiVersion: "policy/v1", kind: "Eviction", metadata: { name } },
    });
  const reason = "the claim of volume data is not shared; it must be ReadWriteMany";
  // It runs for a moment before its node reports whether it can move.
  await expect
    .poll(evict)
    .toMatchObject({ status: 429, body: { message: expect.stringContaining(reason) } });
  expect(await running.vm.launchers()).toEqual([name]);
}, 240_000);

testDemo("a guest moves to the other node and back, and keeps counting", async (vm) => {
  let before = await seeGuest(vm);
  const byObject = async (): Promise<void> => {
    await vm.migrate("there");
    expect(await vm.migrated("there")).toBe("Succeeded");
  };
  const byCommand = async (): Promise<void> => {
    // Its node reports the rate every five seconds. The longer it copies, the more likely is that QEMU damages the guest.
    await using _slow = await slowCopies(vm.namespace, "10Mi");
    const { code, err } = await runVirtkit(cluster, vm.namespace, "migrate", "demo", "--watch");
    expect([code, err]).toEqual([
      0,
      expect.stringMatching(/moving the guest, \S+ to \S+, [\d.]+ MB\/s, [\d.]+ MB left/),
    ]);
  };
  for (const move of [byObject, byCommand]) {
    const from = await vm.nodeName();
    await move();
    expect(await vm.nodeName()).not.toBe(from);
    before = await keepsCounting(vm, before);
    await expect.poll(() => vm.copies()).toEqual([await vm.nodeName()]);
  }
});

testDemo(
  "draining a node moves its guest, which keeps counting, and then the drain succeeds",
  async (vm) => {
    const before = await seeGuest(vm);
    const from = await vm.nodeName();
    const selection = ["--pod-selector=kubevirt.io=virt-launcher", "--ignore-daemonsets"];
    const drain = ["drain", from, ...selection, "--delete-emptydir-data", "--timeout=150s"];
    try {
      await cluster.kubectl(drain, { timeout: 160_000 });
    } finally {
      await cluster.kubectl(["uncordon", from]);
    }
    const to = await vm.nodeName();
    expect(to).not.toBe(from);
    await keepsCounting(vm, before);
    await expect.poll(() => vm.copies()).toEqual([to]);
    // Only the eviction requested it.
    const evacuations = (await vm.migrations()).filter(
      ({ metadata }) => metadata.annotations?.["kubevirt.io/evacuationMigration"] === from,
    );
    expect(evacuations).toHaveLength(1);
    expect(await vm.migrated(evacuations[0]?.metadata.name ?? "")).toBe("Succeeded");
    expect(await vm.vmiStatus()).not.toHaveProperty("evacuationNodeName");
  },
);

/** Slows down migrations in the namespace, so that there is time for something else, until it is disposed of. */
async function slowCopies(where: string, rate = "1Mi"): Promise<AsyncDisposable> {
  const name = `slow-${where}`;
  await cluster.apply({
    ...{ apiVersion: "migrations.kubevirt.io/v1alpha1", kind: "MigrationPolicy" },
    metadata: { name },
    spec: {
      bandwidthPerMigration: rate,
      selectors: { namespaceSelector: { "kubernetes.io/metadata.name": where } },
    },
  });
  return {
    async [Symbol.asyncDispose]() {
      await cluster.kubectl(["delete", "migrationpolicy", name]);
    },
  };
}

testDemo(
  "deleting a migration while it copies leaves the guest counting where it was",
  async (vm) => {
    await using _slow = await slowCopies(vm.namespace);
    const before = await seeGuest(vm);
    const from = await vm.nodeName();
    // A launcher that the guest left earlier ends by itself.
    await expect.poll(() => vm.launchers()).toHaveLength(1);
    const launchers = await vm.launchers();
    const held = await vm.grant();
    await vm.migrate("given-up");
    await expect.poll(() => vm.migrationPhase("given-up")).toBe("Running");
    await expect.poll(() => vm.copies()).toHaveLength(2);
    expect(await vm.grant()).toMatchObject({ state: "HandingOver" });
    // A disk is copied, so the proxies encrypt, and nothing arrives in clear text.
    await expect
      .poll(() => streamsOf(vm))
      .toMatchObject({ sealed: expect.toSatisfy(many), data: 0 });
    await vm.giveUp("given-up");
    await expect.poll(() => vm.copies()).toEqual([from]);
    await expect.poll(() => vm.launchers()).toEqual(launchers);
    expect(await vm.nodeName()).toBe(from);
    await keepsCounting(vm, before);
    // Each change raises the number: it is a new grant, but of the same holder.
    expect(await vm.grant()).toEqual({ ...held, seq: expect.any(Number) });
    expect(held).toMatchObject({ state: "Claimed", holder: { node: from } });
    expect((await vm.vmiStatus()).migrationState).toMatchObject({
      ...{ failed: true, abortStatus: "Succeeded" },
    });
  },
);

testDemo("the request that virtctl sends to migrate a VM moves it", async (vm) => {
  const before = await seeGuest(vm);
  const from = await vm.nodeName();
  const known = (await vm.migrations()).map(({ metadata }) => metadata.name);
  const path = `/apis/subresources.kubevirt.io/v1/namespaces/${vm.namespace}/virtualmachines/demo/migrate`;
  expect(await cluster.request(path, { method: "PUT", body: {} })).toMatchObject({ status: 202 });
  const made = (await vm.migrations()).filter(({ metadata }) => !known.includes(metadata.name));
  expect(made).toHaveLength(1);
  expect(await vm.migrated(made[0]?.metadata.name ?? "")).toBe("Succeeded");
  expect(await vm.nodeName()).not.toBe(from);
  await keepsCounting(vm, before);
});

testDemo("a guest moves over the migration network, if the node agents have one", async (vm) => {
  const before = await seeGuest(vm);
  const from = await vm.nodeName();
  await using network = await addMigrationNetwork(cluster);
  await using _slow = await slowCopies(vm.namespace);
  const to = cluster.nodes.find((node) => node !== from) ?? "";
  const targetNodeAddress = network.addresses.get(to);
  await vm.migrate("apart");
  await expect
    .poll(() => streamsOf(vm, targetNodeAddress))
    .toMatchObject({ sealed: expect.toSatisfy(many) });
  await untilCopying(vm, from);
  await copyFast(vm, from);
  expect(await vm.migrated("apart")).toBe("Succeeded");
  const { migrationState } = await vm.vmiStatus();
  expect(migrationState).toMatchObject({ migrationNetworkType: "Migration", targetNodeAddress });
  await keepsCounting(vm, before);
});

/**
 * Connections between the proxies of the migration that a VMI is in, by whether the proxies encrypt them; by default to any
 * address.
 */
async function streamsOf(
  moving: MovingVm,
  address?: string,
): Promise<{ sealed: number; data: number }> {
  const { migrationState } = await moving.vmiStatus();
  const ports = Object.entries(migrationState?.targetDirectMigrationNodePorts ?? {});
  const count = (behind: (port: number) => boolean): number =>
    ports.reduce(
      (sum, [port, each]) => sum + (behind(each) ? connectionsTo(Number(port), address) : 0),
      0,
    );
  return { sealed: count((port) => port === 0), data: count((port) => port !== 0) };
}

/** The handover's own connection, and at least one of QEMU. */
function many(streams: number): boolean {
  return streams > 1;
}

async function setMigrationTls(disableTLS: boolean): Promise<void> {
  const body = JSON.stringify({ spec: { configuration: { migrations: { disableTLS } } } });
  await cluster.kubectl(["patch", "kv", "kubevirt", "-n", "kubevirt", "--type=merge", "-p", body]);
}

/** Starts a migration, and inspects it while it copies: first whether QEMU sends, then how. */
async function lookUnderWay(moving: MovingVm, name: string): Promise<SeenEncryption> {
  const [source] = qemusOfGuest(moving.namespace, moving.name);
  await moving.migrate(name);
  let seen: SeenEncryption | undefined;
  const look = async (): Promise<number> => {
    const { data } = await streamsOf(moving);
    if (data === 0) return 0;
    const qemus = qemusOfGuest(moving.namespace, moving.name);
    const files = qemus.flatMap((each) => each.tlsFiles()).sort();
    seen = { isEncrypted: (await source?.migrationTls()) !== "", files };
    return (await streamsOf(moving)).data;
  };
  await expect.poll(look).toSatisfy((streams: number) => streams > 0);
  return seen ?? { isEncrypted: false, files: [] };
}

/** The node agents' metrics of a guest's migration, by the last part of their names. */
async function migrationMetrics({
  name,
  namespace,
}: MovingVm): Promise<ReadonlyMap<string, number>> {
  const selector = ["-n", "kubevirt", "-l", "kubevirt.io=virt-handler"];
  const output = ["-o", "jsonpath={.items[*].status.podIP}"];
  const hosts = (await cluster.kubectl(["get", "pods", ...selector, ...output])).split(" ");
  const read = async (host: string): Promise<string> =>
    await (await fetch(`http://${host}:8080/metrics`)).text();
  const text = (await Promise.all(hosts.map(read))).join("\n");
  const own = `namespace="${namespace}",name="${name}"`;
  const lines = [...text.matchAll(/^kubevirt_vmi_migration_(\w+)\{([^}]*)\} (\S+)$/gm)];
  return new Map(
    lines.flatMap(([, end = "", labels = "", value]) =>
      labels.includes(own) ? [[end, Number(value)] as const] : [],
    ),
  );
}

const migrationMetricNames = [
  "data_bytes_total",
  "data_processed_bytes",
  "data_remaining_bytes",
  "dirty_memory_rate_bytes",
  "memory_transfer_rate_bytes",
];

interface SeenEncryption {
  readonly isEncrypted: boolean;
  /** In both sandboxes, while it copied. */
  readonly files: readonly string[];
}

test("a guest on the Pod's bridge moves once its owner allows it, encrypted by QEMU unless the cluster disables that", async () => {
  onTestFailed(async () => void process.stderr.write(`${await whatHappened()}\n`));
  await using other = await createNamespace(cluster);
  const bridged = new MovingVm(cluster, {
    ...{ name: "bridged", namespace: other.name },
    ...{ binding: "bridge", sharesAll: true },
  });
  await bridged.create();
  try {
    await bridged.running();
    await bridged.writing();
    const migratable = async () =>
      (await bridged.vmiStatus()).conditions?.find(({ type }) => type === "LiveMigratable");
    const allow = "kubevirt.io/allow-pod-bridge-network-live-migration";
    await expect.poll(migratable).toMatchObject({
      ...{ status: "False", reason: "InterfaceNotLiveMigratable" },
      message: expect.stringContaining(`use masquerade, or set the annotation ${allow}`),
    });
    await expect(bridged.migrate("refused")).rejects.toThrow(`set the annotation ${allow}`);
    await cluster.kubectl(["annotate", "vmi", "bridged", "-n", other.name, `${allow}=true`]);
    await expect.poll(migratable).toMatchObject({ status: "True" });
    const ends = ["client", "server"].flatMap((end) => [`${end}-cert.pem`, `${end}-key.pem`]);
    const from = await bridged.nodeName();
    const before = bridged.diskCount();
    await using _slow = await slowCopies(other.name, "8Mi");
    expect(await lookUnderWay(bridged, "sealed")).toEqual({
      isEncrypted: true,
      files: ["ca-cert.pem", "ca-cert.pem", ...ends],
    });
    const told = async () => [...(await migrationMetrics(bridged)).keys()].sort();
    await expect.poll(told).toEqual(migrationMetricNames);
    await untilCopying(bridged, from);
    await copyFast(bridged, from);
    expect(await bridged.migrated("sealed")).toBe("Succeeded");
    await expect.poll(told).toEqual([]);
    expect(await bridged.nodeName()).not.toBe(from);
    await bridged.writing(before);
    await expect.poll(() => bridged.copies()).toEqual([await bridged.nodeName()]);
    const left = () => qemusOfGuest(other.name, "bridged").flatMap((each) => each.tlsFiles());
    await expect.poll(left).toEqual([]);
    // It boots meanwhile.
    faults.prepare();
    await setMigrationTls(true);
    try {
      expect(await lookUnderWay(bridged, "clear")).toEqual({ isEncrypted: false, files: [] });
      await bridged.giveUp("clear");
    } finally {
      await setMigrationTls(false);
    }
  } finally {
    await bridged.remove();
  }
}, 240_000);

/** Each fault once, where it can do most harm. The guest survives all except the last two. */
const worst = [
  ["virt-controller", "PreparingTarget", "moves"],
  ["source virt-handler", "Running", "stays"],
  ["target virt-handler", "Running", "stays"],
  ["target launcher", "Running", "stays"],
  ["source cut from target", "Running", "moves"],
  ["source cut from API", "Running", "moves"],
  ["target cut from API", "Running", "moves"],
  ["source launcher", "Running", "cold"],
  ["source node lost", "Running", "cold"],
] as const;

test.each(worst)(
  "%s at %s: the guest %s, at most one copy runs, and no count is lost",
  async (fault, phase, outcome) => {
    expect(await faults.run(fault, phase, outcome)).toBe(outcome);
  },
  twoCases,
);

test("afterwards nothing of the guests that moved is left on the nodes", async () => {
  await faults[Symbol.asyncDispose]();
  await demo[Symbol.asyncDispose]();
  await nothingIsLeft(cluster, guestsIn(cluster, "default"), before);
}, 240_000);
