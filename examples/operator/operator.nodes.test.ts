import { readFileSync } from "node:fs";
import { PassThrough } from "node:stream";
import { attachCluster, createNamespace, testImages } from "@virtkit/lab/cluster";
import { uninstall } from "@virtkit/operator";
import { manifests } from "@virtkit/operator/manifests";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bootOnce } from "../../tools/boot-once.mjs";
import { openConsole } from "../../tools/cluster-console.mjs";
import { type Attempt, administrator, componentAccount } from "./testing/component-account.ts";
import { nothingIsLeft } from "./testing/expectations.ts";
import { GuestStream, shownCertificate } from "./testing/guest-stream.ts";
import { guestsIn, reach } from "./testing/guests.ts";
import {
  installation,
  patience,
  type SharedOperator,
  sharedOperator,
  tellingWhy,
} from "./testing/installed-operator.ts";
import { allTraces, kindsOfGuests, kindsSince, nodeTraces } from "./testing/node-traces.ts";

const cluster = attachCluster();
let operator: SharedOperator;
/** What was on the nodes after the installation. */
let before: string[];

beforeAll(async () => {
  operator = await sharedOperator(cluster);
  before = await nodeTraces(cluster);
});

afterAll(async () => {
  await operator[Symbol.asyncDispose]();
});

/** As a user would write it. */
const vm = {
  apiVersion: "kubevirt.io/v1",
  kind: "VirtualMachine",
  metadata: { name: "demo" },
  spec: {
    runStrategy: "Always",
    template: {
      spec: {
        terminationGracePeriodSeconds: 20,
        domain: {
          memory: { guest: "128Mi" },
          devices: {
            disks: [{ name: "root", disk: { bus: "virtio" } }],
            interfaces: [{ name: "default", masquerade: {}, ports: [{ port: 80 }] }],
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
};

/** What the helpers in the Pod of a running guest say: its console as a log, and the answer of virt-freezer. */
async function useHelpers(namespace: string): Promise<void> {
  const inNamespace = ["-n", namespace];
  const label = ["-l", "kubevirt.io=virt-launcher", "-o", "jsonpath={.items[0].metadata.name}"];
  const pod = await cluster.kubectl(["get", "pods", ...inNamespace, ...label]);
  const log = (): Promise<string> =>
    cluster.kubectl(["logs", pod, ...inNamespace, "-c", "guest-console-log"]);
  // What a person has typed on the console, and what the guest has answered.
  await expect.poll(log, patience).toContain("before-42");
  expect(await log()).toContain("BOOTED");

  // It is not root, and cannot change its image.
  const tryIt = ["sh", "-c", "id -u; touch /usr/bin/changed 2>&1 || touch /changed 2>&1 || true"];
  expect(
    await cluster.kubectl(["exec", pod, ...inNamespace, "-c", "compute", "--", ...tryIt]),
  ).toMatch(/^107\n.*Read-only file system\n.*Read-only file system\n$/);

  const freezer = async (flag: string): Promise<string> => {
    const command = ["/usr/bin/virt-freezer", flag, "--name", "demo", "--namespace", namespace];
    return await cluster
      .kubectl(["exec", pod, ...inNamespace, "-c", "compute", "--", ...command])
      .then(
        () => "done",
        (error: unknown) => String(error),
      );
  };
  await expect.poll(() => freezer("--freeze"), patience).toBe("done");
  expect(await freezer("--unfreeze")).toBe("done");
  using console = await GuestStream.open(
    cluster.kubeconfig,
    namespace,
    "virtualmachineinstances/demo/console",
  );
  // Without an agent, the guest cannot be frozen.
  console.send("killall qemu-ga; echo agent-$((6*7))\r");
  await expect.poll(() => console.text, patience).toContain("agent-42");
  await expect.poll(() => freezer("--freeze"), patience).toMatch(/guest agent/i);
}

/** What virtctl does with a running guest, and what happens to it while all certificates are renewed. */
async function useStreams(namespace: string): Promise<void> {
  const vmi = "virtualmachineinstances/demo";
  const open = (path: string): Promise<GuestStream> =>
    GuestStream.open(cluster.kubeconfig, namespace, path);
  const answered = async (console: GuestStream, word: string): Promise<void> => {
    console.send(`echo ${word}-$((6*7))\r`);
    await expect.poll(() => console.text, patience).toContain(`${word}-42`);
  };
  using console = await open(`${vmi}/console`);
  await answered(console, "before");

  using forwarded = await open("virtualmachines/demo/portforward/80/tcp");
  forwarded.send("GET / HTTP/1.0\r\n\r\n");
  await expect.poll(() => forwarded.text, patience).toContain("boot_id=");

  const path = `/apis/subresources.kubevirt.io/v1/namespaces/${namespace}/${vmi}/vnc/screenshot`;
  const picture = await operator.client.request({ path });
  expect(picture.headers["content-type"]).toBe("image/png");
  expect(picture.body.slice(1, 4)).toBe("PNG");

  const shown = await Promise.all(
    (await servers()).map(([host, port]) => shownCertificate(host, port)),
  );
  const asked = `virtkit.io/rotate-certificates=${new Date().toISOString()}`;
  await cluster.kubectl(["annotate", "kubevirt", "kubevirt", "-n", "kubevirt", asked]);
  const areRenewed = async (): Promise<boolean> => {
    const now = (await servers()).map(([host, port]) => shownCertificate(host, port));
    return (await Promise.all(now)).every((serial) => !shown.includes(serial));
  };
  await expect.poll(areRenewed, patience).toBe(true);
  expect(console.isOpen).toBe(true);
  await answered(console, "after");
  using vnc = await open(`${vmi}/vnc`);
  await expect.poll(() => vnc.text, patience).toBe("RFB 003.008\n");
}

/** Pauses and continues the guest; what that leaves is what `kubectl describe` shows. */
async function pauseAndContinue(namespace: string): Promise<void> {
  const guests = guestsIn(cluster, namespace);
  expect(await guests.verb("vmi/demo", "pause")).toBe(200);
  // It is refused until the node agent has reported that the guest is paused.
  await expect.poll(() => guests.verb("vmi/demo", "unpause"), patience).toBe(200);
  const about = "involvedObject.kind=VirtualMachineInstance,involvedObject.name=demo";
  const output = ["-o", "jsonpath={.items[*].reason}"];
  const reasons = async (): Promise<readonly string[]> =>
    (await guests.kubectl("get", "events", "--field-selector", about, ...output)).split(" ");
  await expect.poll(reasons, patience).toEqual(expect.arrayContaining(["Paused", "Unpaused"]));
}

async function addressesOf(component: string): Promise<readonly string[]> {
  const selector = ["-n", "kubevirt", "-l", `kubevirt.io=${component}`];
  const output = ["-o", "jsonpath={.items[*].status.podIP}"];
  return (await cluster.kubectl(["get", "pods", ...selector, ...output])).split(" ");
}

/** Where the API servers of VMs and the node agents listen. */
async function servers(): Promise<readonly (readonly [host: string, port: number])[]> {
  return [
    ...(await addressesOf("virt-api")).map((host) => [host, 8443] as const),
    ...(await addressesOf("virt-handler")).map((host) => [host, 8186] as const),
  ];
}

/** The metrics of all replicas of a component. */
async function metricsOf(component: string): Promise<string> {
  const texts = (await addressesOf(component)).map(async (host) => {
    const answer = await fetch(`http://${host}:8080/metrics`);
    expect(answer.status).toBe(200);
    return await answer.text();
  });
  return (await Promise.all(texts)).join("\n");
}

test("a VM created with kubectl apply runs, has an address, answers on its port, and is gone without a trace", async () => {
  await using namespace = await createNamespace(cluster);
  const inNamespace = ["-n", namespace.name];
  const idle = await allTraces(cluster);
  await tellingWhy(cluster, async () => {
    await cluster.kubectl(["apply", ...inNamespace, "-f", "-"], { input: JSON.stringify(vm) });
    const status = async (): Promise<string> =>
      await cluster.kubectl([
        "get",
        "vm",
        "demo",
        ...inNamespace,
        "-o",
        "jsonpath={.status.printableStatus}",
      ]);
    await expect.poll(status, patience).toBe("Running");
    const shown = await cluster.kubectl(["get", "vm,vmi", ...inNamespace, "-o", "wide"]);
    expect(shown).toMatch(/NAME +AGE +STATUS +READY/);
    expect(shown).toMatch(/demo +\S+ +Running/);
    const address = /\d+\.\d+\.\d+\.\d+/.exec(shown)?.[0] ?? "";
    await expect.poll(() => reach(address), patience).toMatch(/^boot_id=/);
    // The control of the search for traces: it finds each kind while the guest and the components run.
    expect(idle).toContainEqual(expect.stringMatching(/^\S+ mount \//));
    expect(await kindsSince(cluster, idle)).toEqual(expect.arrayContaining([...kindsOfGuests]));
    await useStreams(namespace.name);
    await useHelpers(namespace.name);
    await pauseAndContinue(namespace.name);
    expect(await metricsOf("virt-controller")).toMatch(
      /^kubevirt_vmi_info\{.*phase="running".*\} 1$/m,
    );
    expect(await metricsOf("virt-api")).toMatch(/^api_server_reviews_total\{.*\} [1-9]/m);
    const ofNodes = await metricsOf("virt-handler");
    expect(ofNodes).toMatch(/^kubevirt_vmi_cpu_usage_seconds_total\{/m);
    expect(ofNodes).toMatch(/^kubevirt_virt_handler_ready_status\{\} 1$/m);

    // Through the aggregated API, as virtctl does it.
    const stop = `/apis/subresources.kubevirt.io/v1/namespaces/${namespace.name}/virtualmachines/demo/stop`;
    const { status: code } = await cluster.request(stop, { method: "PUT", body: {} });
    expect(code).toBe(202);
    await expect.poll(status, patience).toBe("Stopped");

    await nothingIsLeft(cluster, guestsIn(cluster, namespace.name), before);
  });
});

test("npm start -- --cluster --once boots a VM until it is ready, reaches it, stops it and returns its timeline; its console can be watched", async () => {
  await using namespace = await createNamespace(cluster);
  const file = new URL("../vms/web.yaml", import.meta.url);
  const manifest = readFileSync(file, "utf8")
    .replace("registry.example/virtkit/demo:latest", testImages.disk)
    .replace("namespace: default", `namespace: ${namespace.name}`);
  const said: string[] = [];
  const told = (line: string): void => void said.push(line);
  await tellingWhy(cluster, async () => {
    const booting = bootOnce(cluster, { manifest, told, patience: patience.timeout });
    // A failure is reported below, not as an unhandled rejection while the console is awaited.
    booting.catch(() => undefined);
    const inNamespace = ["-n", namespace.name, "--ignore-not-found"];
    const phase = (): Promise<string> =>
      cluster.kubectl(["get", "vmi/web", ...inNamespace, "-o", "jsonpath={.status.phase}"]);
    await expect.poll(phase, patience).toBe("Running");
    let shown = "";
    const [stdin, stdout] = [new PassThrough(), new PassThrough()];
    stdout.on("data", (chunk: Buffer) => {
      shown += chunk;
    });
    const vmi = { namespace: namespace.name, name: "web" };
    const watching = new AbortController();
    const terminal = { stdin, stdout };
    const closed = openConsole(cluster.kubeconfig, vmi, watching.signal, terminal);
    try {
      const timeline = await booting;
      expect(timeline).toMatch(/^ +guest-running +done +\d/m);
      expect(timeline).toMatch(/^ +ready +done +\d/m);
    } finally {
      watching.abort();
    }
    expect(said).toEqual([
      expect.stringMatching(/^VM \S+\/web is ready, at \d+\.\d+\.\d+\.\d+$/),
      // The name is from cloud-init.
      expect.stringMatching(/^the guest answers on port 80: boot_id=\S+ host=web-server$/),
      expect.stringMatching(/^VM \S+\/web has stopped$/),
    ]);
    expect(await closed).toBe("the console was closed");
    // What the guest wrote until its end.
    expect(shown).toContain("SHUTDOWN");
    const left = await cluster.kubectl(["get", "vm,vmi", ...inNamespace, "-o", "name"]);
    expect(left).toBe("");
    await nothingIsLeft(cluster, guestsIn(cluster, namespace.name), before);
  });
});

test.each([
  ["kubevirt-handler", "create", "", "pods"],
  ["kubevirt-handler", "delete", "kubevirt.io", "virtualmachineinstances"],
  ["kubevirt-handler", "get", "", "secrets"],
  ["kubevirt-controller", "get", "", "secrets"],
  ["kubevirt-controller", "create", "", "pods/exec"],
  ["kubevirt-controller", "patch", "kubevirt.io", "kubevirts"],
  ["kubevirt-apiserver", "create", "", "pods"],
  ["kubevirt-apiserver", "list", "", "secrets"],
  ["kubevirt-apiserver", "create", "rbac.authorization.k8s.io", "clusterrolebindings"],
])("the account %s may not %s %s/%s", async (account, verb, group, what) => {
  const may = async (asked: string, inGroup: string, of: string): Promise<unknown> => {
    const [resource, subresource] = of.split("/");
    const resourceAttributes = { verb: asked, group: inGroup, resource, subresource };
    const { body } = await cluster.request("/apis/authorization.k8s.io/v1/subjectaccessreviews", {
      method: "POST",
      body: { spec: { user: `system:serviceaccount:kubevirt:${account}`, resourceAttributes } },
    });
    return (body as { status: { allowed: boolean } }).status.allowed;
  };
  expect(await may(verb, group, what)).toBe(false);
  expect(await may("get", "kubevirt.io", "virtualmachineinstances")).toBe(true);
});

/** Writes that are valid, but change nothing. */
const dry = "?dryRun=All";
const core = "/api/v1/namespaces";
const vms = `/apis/kubevirt.io/v1/namespaces/default`;
const label = { metadata: { labels: { "kubevirt.io/schedulable": "true" } } };

const get = (path: string): Attempt => ({ method: "GET", path });
const remove = (path: string): Attempt => ({ method: "DELETE", path: `${path}${dry}` });
const patch = (path: string, body: object): Attempt => ({
  ...{ method: "PATCH", path: `${path}${dry}`, body },
});
const create = (path: string, body: object): Attempt => ({
  ...{ method: "POST", path: `${path}${dry}`, body },
});
const containers = [{ name: "main", image: "image" }];
const createPod = create(`${core}/default/pods`, { metadata: { name: "x" }, spec: { containers } });
const createBinding = create("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
  metadata: { name: "x" },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
});
const run: Attempt = {
  ...{ method: "POST", path: `${core}/default/pods/x/exec?command=true`, body: {} },
};

const tokenOf = (account: string): Attempt =>
  create(`${core}/kubevirt/serviceaccounts/${account}/token`, { spec: { expirationSeconds: 600 } });
/** What would make any of them as powerful as another component, as a kubelet, or as an administrator. */
const takeovers = [
  ...[tokenOf("kubevirt-controller"), tokenOf("kubevirt-apiserver")],
  get("/api/v1/nodes/node-1/proxy/pods"),
  patch("/apis/rbac.authorization.k8s.io/v1/clusterroles/kubevirt-handler", label),
  patch(
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/virtualmachines.kubevirt.io",
    label,
  ),
  patch("/apis/apps/v1/namespaces/kubevirt/daemonsets/virt-handler", label),
];

/** What each component must not do, and what it must be able to do. */
const attempts = {
  "kubevirt-handler": {
    refused: [
      ...takeovers,
      ...[get(`${core}/default/secrets`), get(`${core}/kubevirt/secrets/virtkit-ca`)],
      ...[createPod, run, createBinding, remove(`${core}/default/pods/x`)],
      remove(`${vms}/virtualmachines/x`),
      remove(`${vms}/virtualmachineinstances/x`),
      patch(`${vms}/virtualmachines/x`, { spec: { runStrategy: "Halted" } }),
      get("/api/v1/nodes"),
      patch("/apis/kubevirt.io/v1/namespaces/kubevirt/kubevirts/kubevirt", label),
    ],
    allowed: [
      get("/apis/kubevirt.io/v1/virtualmachineinstances"),
      get("/apis/kubevirt.io/v1/namespaces/kubevirt/kubevirts"),
      patch("/api/v1/nodes/node-1", label),
    ],
  },
  "kubevirt-controller": {
    refused: [
      ...takeovers,
      ...[get(`${core}/default/secrets`), get(`${core}/kubevirt/secrets/virtkit-ca`)],
      ...[run, createBinding, remove("/api/v1/nodes/node-1")],
      patch("/apis/kubevirt.io/v1/namespaces/kubevirt/kubevirts/kubevirt", label),
    ],
    allowed: [get("/api/v1/pods"), createPod, patch("/api/v1/nodes/node-2", label)],
  },
  "kubevirt-apiserver": {
    refused: [
      ...takeovers,
      ...[get(`${core}/default/secrets`), createPod, run, createBinding],
      remove(`${vms}/virtualmachineinstances/x`),
      patch("/api/v1/nodes/node-1", label),
    ],
    allowed: [
      get(`${core}/kubevirt/secrets/virtkit-ca`),
      get("/apis/kubevirt.io/v1/virtualmachines"),
    ],
  },
} as const;

/** The agent's Pod on a node: a token that is bound to it says so. */
async function agentPod(node: string): Promise<{ readonly name: string; readonly uid: string }> {
  const text = await cluster.kubectl([
    ...["get", "pods", "-n", "kubevirt", "-l", "kubevirt.io=virt-handler", "-o", "json"],
    ...["--field-selector", `spec.nodeName=${node}`],
  ]);
  const { name = "", uid = "" } = JSON.parse(text).items[0]?.metadata ?? {};
  return { name, uid };
}

test("with its own token each component is refused what is not its work, and an agent also the Nodes of others", async () => {
  const pods = { "kubevirt-handler": await agentPod("node-1") };
  using admin = administrator(cluster);
  for (const [account, { refused, allowed }] of Object.entries(attempts)) {
    using caller = await componentAccount(cluster, account, Object(pods)[account]);
    for (const attempt of refused) {
      const what = `${account} ${attempt.method} ${attempt.path}`;
      expect(await caller.try(attempt), what).toBe(403);
      // The control: it is the account that is refused, and not the request.
      expect([200, 201, 400, 404], what).toContain(await admin.try(attempt));
    }
    for (const attempt of allowed) {
      const what = `${account} ${attempt.method} ${attempt.path}`;
      expect([200, 201], what).toContain(await caller.try(attempt));
    }
  }
  using agent = await componentAccount(cluster, "kubevirt-handler", pods["kubevirt-handler"]);
  const ofAnother = patch("/api/v1/nodes/node-2", label);
  // RBAC cannot express that: the validating webhook refuses it.
  expect([await agent.try(ofAnother), await admin.try(ofAnother)]).toEqual([422, 200]);
});

test("removing the installation leaves none of its objects, and nothing of it on the nodes", async () => {
  await tellingWhy(cluster, async () => {
    for await (const line of uninstall({ client: operator.client, ...installation })) void line;
    // Nobody can ask for an object whose definition is gone.
    const items = manifests(installation).filter(({ kind }) => kind !== "KubeVirt");
    const input = JSON.stringify({ apiVersion: "v1", kind: "List", items });
    const left = (): Promise<string> =>
      cluster.kubectl(["get", "-f", "-", "--ignore-not-found", "-o", "name"], { input });
    await expect.poll(left, patience).toBe("");
    const added = async (): Promise<string[]> =>
      (await nodeTraces(cluster)).filter((trace) => !operator.clean.includes(trace));
    await expect.poll(added, patience).toEqual([]);
  });
});
