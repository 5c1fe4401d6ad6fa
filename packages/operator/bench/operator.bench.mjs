import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { defineResource, HttpClient } from "@virtkit/kube";
import { startCluster, testImages } from "@virtkit/lab/cluster";
import { install } from "@virtkit/operator";
import { packTestImages } from "../../../tools/nodes/test-images.mjs";

const namespace = "default";
const rounds = 5;
const image = { image: testImages.launcher, imagePullPolicy: "IfNotPresent" };
const vms = defineResource({
  ...{ group: "kubevirt.io", version: "v1", plural: "virtualmachines", kind: "VirtualMachine" },
});
const vmis = defineResource({
  ...{ group: "kubevirt.io", version: "v1" },
  ...{ plural: "virtualmachineinstances", kind: "VirtualMachineInstance" },
});
const pods = defineResource({ version: "v1", plural: "pods", kind: "Pod" });

/** @typedef {import("@virtkit/kube").KubeObject & { spec?: any, status?: any }} Seen */

/** A VM as a user writes it. @param {string} name */
const vmOf = (name) => ({
  apiVersion: "kubevirt.io/v1",
  kind: "VirtualMachine",
  metadata: { name, namespace },
  spec: {
    runStrategy: "Always",
    template: {
      spec: {
        terminationGracePeriodSeconds: 0,
        nodeSelector: { "kubernetes.io/hostname": "node-1" },
        domain: {
          memory: { guest: "128Mi" },
          devices: {
            disks: [{ name: "root", disk: { bus: "virtio" } }],
            interfaces: [{ name: "default", masquerade: {} }],
          },
        },
        networks: [{ name: "default", pod: {} }],
        volumes: [
          {
            name: "root",
            containerDisk: { image: testImages.disk, imagePullPolicy: "IfNotPresent" },
          },
        ],
      },
    },
  },
});

/** A Pod of the same image that does nothing. @param {string} name */
const podOf = (name) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace },
  spec: {
    nodeName: "node-1",
    terminationGracePeriodSeconds: 0,
    containers: [{ name: "main", ...image, command: ["sleep", "1000"] }],
  },
});

/** @param {Seen} object @param {string} type */
const isTrue = ({ status }, type) =>
  status?.conditions?.some(
    (/** @type {any} */ each) => each.type === type && each.status === "True",
  );

/** What is observed of a VM on its way, in order; each by the first watch event for which it is true. */
const handoffs = [
  { name: "VMI created", of: vmis, is: () => true },
  { name: "Pod created", of: pods, is: () => true },
  { name: "Pod scheduled", of: pods, is: (/** @type {Seen} */ pod) => Boolean(pod.spec?.nodeName) },
  { name: "Pod Ready", of: pods, is: (/** @type {Seen} */ pod) => isTrue(pod, "ContainersReady") },
  {
    name: "given to the node",
    of: vmis,
    is: (/** @type {Seen} */ vmi) => ["Scheduled", "Running"].includes(vmi.status?.phase),
  },
  {
    name: "guest running",
    of: vmis,
    is: (/** @type {Seen} */ vmi) => vmi.status?.phase === "Running",
  },
];

/** @param {string} kubeconfig */
function connect(kubeconfig) {
  const { clusters, users } = JSON.parse(readFileSync(kubeconfig, "utf8"));
  const { server, "certificate-authority-data": data } = clusters[0].cluster;
  const headers = { authorization: `Bearer ${users[0].user.token}` };
  const tls = { ca: Buffer.from(data, "base64") };
  return new HttpClient({ server, credentials: async () => ({ headers, tls }) });
}

/**
 * Watches the objects of a resource until a check passes.
 * @param {HttpClient} client
 * @param {import("@virtkit/kube").Resource} resource
 * @param {(object: Seen) => boolean} isOver
 */
async function follow(client, resource, isOver) {
  const { metadata } = await client.list(resource, { namespace, limit: 1 });
  const { resourceVersion } = metadata;
  const stop = new AbortController();
  const watch = client.watch(resource, { namespace, resourceVersion, signal: stop.signal });
  const over = (async () => {
    for await (const event of watch) {
      if (event.type !== "BOOKMARK" && isOver(/** @type {Seen} */ (event.object))) break;
    }
    stop.abort();
  })();
  return { over };
}

/** Milliseconds from a VM's creation to each handoff. @param {HttpClient} client @param {string} name */
async function startOne(client, name) {
  /** @type {Map<string, number>} */
  const at = new Map();
  const note = (/** @type {any} */ of) => (/** @type {Seen} */ object) => {
    if (!object.metadata.name?.includes(name)) return false;
    const mine = handoffs.filter((handoff) => handoff.of === of);
    for (const { name: handoff, is } of mine) {
      if (!at.has(handoff) && is(object)) at.set(handoff, performance.now());
    }
    return mine.every((handoff) => at.has(handoff.name));
  };
  const followed = [await follow(client, vmis, note(vmis)), await follow(client, pods, note(pods))];
  const start = performance.now();
  await client.create(vms, /** @type {any} */ (vmOf(name)));
  await Promise.all(followed.map(({ over }) => over));
  return handoffs.map((handoff) => (at.get(handoff.name) ?? Number.NaN) - start);
}

/** Milliseconds until an empty Pod is Ready. @param {HttpClient} client @param {string} name */
async function startPod(client, name) {
  const { over } = await follow(
    ...[client, pods],
    (pod) => pod.metadata.name === name && isTrue(pod, "Ready"),
  );
  const start = performance.now();
  await client.create(pods, /** @type {any} */ (podOf(name)));
  await over;
  return performance.now() - start;
}

/** @param {HttpClient} client @param {import("@virtkit/kube").Resource} resource @param {string} name */
async function remove(client, resource, name) {
  const isGone = (/** @type {any} */ error) => error.status === 404;
  await client.delete(resource, { namespace, name });
  for (;;) {
    const found = await client.get(resource, { namespace, name }).catch((error) => {
      if (!isGone(error)) throw error;
    });
    if (!found) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** @param {number[]} values */
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
const seconds = (/** @type {number} */ value) => `${(value / 1000).toFixed(2)} s`;

/** The memory that the platform's programs hold alone (PSS), in MiB. */
function memory() {
  const programs = {
    ...{ "virt-api": /virt-api\.mjs/, "virt-controller": /virt-controller\.mjs/ },
    ...{ "virt-handler": /virt-handler\.mjs/, launcher: /virtkit-launcher/ },
    ...{ libvirtd: /libvirtd/, QEMU: /qemu-system/ },
  };
  const found = readdirSync("/proc").flatMap((pid) => {
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, "utf8");
      const [name] = Object.entries(programs).find(([, is]) => is.test(line)) ?? [];
      const [, pss] = /^Pss: +(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8")) ?? [];
      return name && Number(pss) > 4_096 ? [{ name, mebibytes: Number(pss) / 1024 }] : [];
    } catch {
      // Not a process, or one that has ended.
      return [];
    }
  });
  return Object.keys(programs).map((program) => {
    const all = found.filter(({ name }) => name === program).map(({ mebibytes }) => mebibytes);
    return `${program} ${median(all).toFixed(0)} MiB`;
  });
}

/**
 * Writes for one VM, by writer and kind, from the API server's audit log; those that it rejected are counted apart.
 * @param {readonly string[]} lines of the log
 * @param {string} name
 */
function writesFor(lines, name) {
  /** @type {Map<string, Map<string, number>>} */
  const byActor = new Map();
  for (const line of lines) {
    const { user, verb, objectRef = {}, requestObject, responseStatus } = JSON.parse(line);
    const about = `${objectRef.name ?? ""} ${JSON.stringify(requestObject ?? "")}`;
    if (objectRef.namespace !== namespace || !about.includes(name)) continue;
    const actor = user.username.replace(/^system:(serviceaccount:)?/, "");
    const subresource = objectRef.subresource ? `/${objectRef.subresource}` : "";
    const rejected = responseStatus?.code >= 300 ? " rejected" : "";
    const what = `${verb} ${objectRef.resource}${subresource}${rejected}`;
    const counts = byActor.get(actor) ?? new Map();
    byActor.set(actor, counts.set(what, (counts.get(what) ?? 0) + 1));
  }
  return byActor;
}

/**
 * Each count as one number if it is the same for every VM, and otherwise as the lowest and the highest.
 * @param {string} log
 * @param {readonly string[]} names of VMs
 */
function writes(log, names) {
  const lines = readFileSync(log, "utf8").split("\n").filter(Boolean);
  const all = names.map((name) => writesFor(lines, name));
  const range = (/** @type {number[]} */ counts) => {
    const [least, most] = [Math.min(...counts), Math.max(...counts)];
    return least === most ? `${least}` : `${least} to ${most}`;
  };
  const sum = (/** @type {Map<string, number> | undefined} */ counts) =>
    [...(counts ?? new Map()).values()].reduce((total, count) => total + count, 0);
  const actors = [...new Set(all.flatMap((byActor) => [...byActor.keys()]))];
  return actors.map((actor) => {
    const kinds = new Set(all.flatMap((byActor) => [...(byActor.get(actor)?.keys() ?? [])]));
    const parts = [...kinds].map(
      (what) => `${range(all.map((byActor) => byActor.get(actor)?.get(what) ?? 0))} ${what}`,
    );
    const total = range(all.map((byActor) => sum(byActor.get(actor))));
    return `  ${actor}: ${total} (${parts.join(", ")})`;
  });
}

async function figures() {
  const folder = mkdtempSync(path.join(tmpdir(), "virtkit-bench-"));
  let ended = async () => {};
  try {
    const images = await packTestImages(folder);
    const options = { name: `bench-${process.pid}`, images, audit: true };
    const cluster = await startCluster(options);
    ended = () => cluster[Symbol.asyncDispose]();
    const client = connect(cluster.kubeconfig);
    const configuration = { developerConfiguration: { useEmulation: true } };
    for await (const _ of install({ client, ...image, configuration }));
    /** @type {number[][]} */
    const vmTimes = [];
    const podTimes = [];
    let held = "";
    // The first of each is not counted: it loads what the node needs.
    for (let round = 0; round <= rounds; round++) {
      const times = await startOne(client, `measured-${round}`);
      if (round === rounds) held = memory().join(", ");
      await remove(client, vms, `measured-${round}`);
      const empty = await startPod(client, `empty-${round}`);
      await remove(client, pods, `empty-${round}`);
      if (round === 0) continue;
      vmTimes.push(times);
      podTimes.push(empty);
    }
    client.close();
    const medians = handoffs.map((_, index) => median(vmTimes.map((times) => times[index] ?? 0)));
    const split = handoffs.map(({ name }, index) => {
      const since = (medians[index] ?? 0) - (medians[index - 1] ?? 0);
      return `${name} +${seconds(since)}`;
    });
    const measured = Array.from({ length: rounds }, (_, at) => `measured-${at + 1}`);
    const running = medians.at(-1) ?? Number.NaN;
    const log = path.join(cluster.layout.directory, "control-plane/log/audit.log");
    return [
      `create -> guest running ${seconds(running)}, create -> Ready of an empty Pod ${seconds(median(podTimes))}: ${seconds(running - median(podTimes))} more [goal: at most 4.5 s]`,
      `  by handoff: ${split.join(", ")}`,
      `  memory (PSS), one guest running: ${held}`,
      `  writes for one VM, from its creation to its end, by writer, of ${rounds} VMs:`,
      ...writes(log, measured).map((line) => `  ${line}`),
    ].join("\n");
  } finally {
    await ended();
    rmSync(folder, { recursive: true, force: true });
  }
}

export const benchmarks = [
  {
    name: "operator: a VM compared with an empty Pod, median of 5",
    figures,
    available: () => {
      if (process.getuid?.() !== 0) return "it needs root; run it with sudo";
      const programs = process.env["VIRTKIT_KUBERNETES"] ?? "";
      return (
        existsSync(path.join(programs, "kubelet")) ||
        "set VIRTKIT_KUBERNETES, as npm run setup -- nodes says"
      );
    },
  },
];
