import { spawnSync } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { check, VirtualMachineInstanceSchema } from "@virtkit/api/schema";
import { zodSchema } from "@virtkit/api/zod";
import { fullObject } from "@virtkit/conformance/recorded";

/** @typedef {import("../../../tools/bench/benchmark.mjs").Benchmark<unknown[], unknown[]>} Benchmark */

const full = JSON.stringify(fullObject("v1.VirtualMachineInstance"));

/** A user's manifest of 2 KB as JSON. */
const typical = JSON.stringify({
  apiVersion: "kubevirt.io/v1",
  kind: "VirtualMachineInstance",
  metadata: {
    name: "web-0",
    namespace: "shop",
    labels: { app: "web", tier: "front", "kubevirt.io/size": "medium" },
    annotations: { "example.com/owner": "team-a", "example.com/note": "made by the platform" },
  },
  spec: {
    architecture: "amd64",
    terminationGracePeriodSeconds: 180,
    evictionStrategy: "LiveMigrate",
    nodeSelector: { "kubernetes.io/os": "linux" },
    tolerations: [{ key: "dedicated", operator: "Equal", value: "vms", effect: "NoSchedule" }],
    readinessProbe: {
      httpGet: { path: "/healthz", port: 80 },
      initialDelaySeconds: 30,
      periodSeconds: 10,
    },
    domain: {
      cpu: {
        cores: 2,
        sockets: 1,
        threads: 1,
        model: "host-model",
        features: [{ name: "apic", policy: "require" }],
      },
      memory: { guest: "4Gi" },
      resources: { requests: { memory: "4Gi", cpu: "2" }, limits: { memory: "5Gi" } },
      machine: { type: "q35" },
      firmware: {
        uuid: "5d307ca9-b3ef-428c-8861-06e72d69f223",
        bootloader: { efi: { secureBoot: false } },
      },
      features: { acpi: { enabled: true }, smm: { enabled: true } },
      clock: {
        utc: {},
        timer: {
          hpet: { present: false },
          pit: { tickPolicy: "delay" },
          rtc: { tickPolicy: "catchup" },
        },
      },
      devices: {
        rng: {},
        blockMultiQueue: true,
        networkInterfaceMultiqueue: true,
        disks: [
          { name: "root", disk: { bus: "virtio" }, bootOrder: 1, cache: "none" },
          { name: "data", disk: { bus: "scsi" }, serial: "D1" },
          { name: "cloudinit", disk: { bus: "virtio" } },
        ],
        interfaces: [
          {
            name: "default",
            model: "virtio",
            masquerade: {},
            ports: [{ name: "http", port: 80, protocol: "TCP" }, { port: 22 }],
          },
          { name: "storage", bridge: {}, macAddress: "02:00:00:00:00:01" },
        ],
      },
    },
    networks: [
      { name: "default", pod: {} },
      { name: "storage", multus: { networkName: "shop/storage" } },
    ],
    volumes: [
      { name: "root", dataVolume: { name: "web-0-root" } },
      { name: "data", persistentVolumeClaim: { claimName: "web-0-data" } },
      {
        name: "cloudinit",
        cloudInitNoCloud: {
          userData:
            "#cloud-config\nusers:\n  - name: admin\n    lock_passwd: true\npackages: [nginx]\n",
        },
      },
    ],
  },
});

const faulty = typical.replace('"cores":2', '"cores":"2","core":1');
const zod = zodSchema(VirtualMachineInstanceSchema, { strict: true });

/** Objects that no call has seen before. @param {string} text */
const fresh = (text) => () =>
  Array.from({ length: 200 }, () => /** @type {unknown} */ (JSON.parse(text)));

/** @param {(value: unknown) => unknown} work @returns {(values: unknown[]) => number} */
const each = (work) => (values) => {
  for (const value of values) work(value);
  return values.length;
};

/** @param {unknown} value */
const strict = (value) => check(VirtualMachineInstanceSchema, value, { strict: true });

/** @param {string} name @param {string} text @param {Partial<Benchmark>} [more] @returns {Benchmark} */
function checking(name, text, more) {
  return {
    name: `check strict, ${name}`,
    subject: { name: "check", prepare: fresh(text), run: each(strict) },
    baseline: { name: "zod", prepare: fresh(text), run: each((value) => zod.safeParse(value)) },
    allocations: true,
    ...more,
  };
}

/** Starts Node, imports a module and exits. @param {string} code */
function startNode(code) {
  const { status } = spawnSync(process.execPath, ["--input-type=module", "-e", code], {
    cwd: path.dirname(fileURLToPath(import.meta.url)),
  });
  if (status !== 0) throw new Error(`node -e '${code}' failed`);
  return 1;
}

/** @type {Benchmark[]} */
export const benchmarks = [
  checking("typical VMI (2 KB)", typical, { goal: "under 30 us" }),
  checking("VMI with every field", full),
  checking("typical VMI with two faults", faulty),
  {
    name: "start Node and import @virtkit/api/schema",
    subject: {
      name: "schema",
      prepare: () => [],
      run: () => startNode('import "@virtkit/api/schema"'),
    },
    baseline: { name: "node alone", prepare: () => [], run: () => startNode("") },
    clock: "wall",
    goal: "under 90 ms more than Node itself",
  },
];
