import { admit, instanceCauses, reviewAdmission } from "@virtkit/api/admission";
import { clusterConfig } from "@virtkit/api/config";
import { defaultVirtualMachineInstance } from "@virtkit/api/defaults";

/** @typedef {import("../../../tools/bench/benchmark.mjs").Benchmark} Benchmark */

const config = clusterConfig();

/**
 * A typical VMI of a platform: a root disk, data, cloud-init, two networks, probes.
 * @param {number} round
 */
function machine(round) {
  return {
    apiVersion: "kubevirt.io/v1",
    kind: "VirtualMachineInstance",
    metadata: {
      name: `web-${round}`,
      namespace: "shop",
      labels: { app: "web", tier: "front" },
      annotations: { "example.com/owner": "team-a" },
    },
    spec: {
      architecture: "amd64",
      hostname: "web",
      terminationGracePeriodSeconds: 180,
      evictionStrategy: "LiveMigrate",
      nodeSelector: { "kubernetes.io/os": "linux" },
      tolerations: [{ key: "dedicated", operator: "Equal", value: "vms", effect: "NoSchedule" }],
      readinessProbe: { httpGet: { path: "/healthz", port: 80 }, periodSeconds: 10 },
      domain: {
        cpu: { cores: 2, sockets: 1, threads: 1, model: "host-model" },
        memory: { guest: "4Gi" },
        resources: { requests: { memory: "4Gi", cpu: "2" }, limits: { memory: "5Gi" } },
        machine: { type: "q35" },
        firmware: { bootloader: { efi: { secureBoot: false } } },
        features: { acpi: { enabled: true }, smm: { enabled: true } },
        clock: { utc: {}, timer: { hpet: { present: false }, pit: { tickPolicy: "delay" } } },
        devices: {
          rng: {},
          disks: [
            { name: "root", disk: { bus: "virtio" }, bootOrder: 1, cache: "none" },
            { name: "data", disk: { bus: "scsi" }, serial: "DATA-1" },
            { name: "init", disk: { bus: "virtio" } },
          ],
          interfaces: [
            { name: "default", masquerade: {}, ports: [{ name: "http", port: 80 }] },
            { name: "storage", bridge: {}, macAddress: "de:ad:00:00:be:af" },
          ],
        },
      },
      networks: [
        { name: "default", pod: {} },
        { name: "storage", multus: { networkName: "shop/storage" } },
      ],
      volumes: [
        { name: "root", dataVolume: { name: "web-root" } },
        { name: "data", persistentVolumeClaim: { claimName: "web-data" } },
        { name: "init", cloudInitNoCloud: { userData: `#cloud-config\nfqdn: web-${round}\n` } },
      ],
    },
  };
}

/** @param {number} round */
function review(round) {
  return JSON.stringify({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: {
      uid: "5d307ca9-b3ef-428c-8861-06e72d69f223",
      resource: { group: "kubevirt.io", version: "v1", resource: "virtualmachineinstances" },
      operation: "CREATE",
      namespace: "shop",
      userInfo: { username: "system:serviceaccount:shop:deployer" },
      object: machine(round),
    },
  });
}

const inputs = 200;

/**
 * @template T
 * @param {(round: number) => T} make
 */
function many(make) {
  return (/** @type {number} */ round) =>
    Array.from({ length: inputs }, (_, i) => make(Math.abs(round) * inputs + i));
}

/**
 * Runs an operation until it has been compiled: a webhook is a long-running server, and its peer is compiled
 * ahead of time.
 * @template T
 * @param {{ name: string, prepare: (round: number) => T[], run: (input: T[]) => number }} contender
 */
function warm(contender) {
  let isWarm = false;
  return {
    ...contender,
    /** @param {number} round */
    prepare: (round) => {
      for (let i = 0; i < 50 && !isWarm; i++) contender.run(contender.prepare(i));
      isWarm = true;
      return contender.prepare(round);
    },
  };
}

/** @type {Benchmark[]} */
export const benchmarks = [
  {
    name: "admission: a whole review of a typical VMI, JSON in and out",
    subject: warm({
      name: "reviewAdmission",
      prepare: many(review),
      run: (/** @type {string[]} */ texts) => {
        for (const text of texts) {
          const answer = reviewAdmission(JSON.parse(text), config);
          if (!answer.response.allowed || JSON.stringify(answer).length === 0) {
            throw new Error(`refused: ${JSON.stringify(answer)}`);
          }
        }
        return texts.length;
      },
    }),
    reference: { name: "KubeVirt's webhook in Go", microseconds: 490 },
    goal: "at most 98 us, a fifth of KubeVirt's",
    allocations: true,
  },
  {
    name: "admission: schema and rules of a decoded VMI",
    subject: warm({
      name: "admit",
      prepare: many(machine),
      run: (/** @type {object[]} */ objects) => {
        for (const object of objects) {
          const request = /** @type {const} */ ({
            kind: "VirtualMachineInstance",
            operation: "CREATE",
          });
          if (!admit({ ...request, object }, config).allowed) throw new Error("refused");
        }
        return objects.length;
      },
    }),
  },
  {
    name: "admission: the rules alone on a decoded VMI",
    subject: warm({
      name: "instanceCauses",
      prepare: many(machine),
      run: (/** @type {any[]} */ objects) => {
        for (const object of objects) {
          if (instanceCauses(object, config, false).length > 0) throw new Error("refused");
        }
        return objects.length;
      },
    }),
    reference: { name: "KubeVirt's rules in Go", microseconds: 31 },
    goal: "under 30 us",
    allocations: true,
  },
  {
    name: "defaults: a typical VMI",
    subject: warm({
      name: "defaultVirtualMachineInstance",
      prepare: many(machine),
      run: (/** @type {any[]} */ objects) => {
        for (const object of objects) defaultVirtualMachineInstance(object, config);
        return objects.length;
      },
    }),
    reference: { name: "KubeVirt's mutating webhook in Go, JSON included", microseconds: 256 },
    allocations: true,
  },
];
