import { readFileSync } from "node:fs";
import { HttpClient } from "@virtkit/kube";
import { attachCluster, createNamespace, testImages } from "@virtkit/lab/cluster";
import { install, uninstall } from "@virtkit/operator";
import { afterAll, beforeAll, expect, test } from "vitest";
import { GuestStream, shownCertificate } from "./testing/guest-stream.ts";

const cluster = attachCluster();
const installation = {
  image: testImages.launcher,
  imagePullPolicy: "IfNotPresent",
  // Not where the other tests of agents keep theirs: a node has one agent.
  stateDirectory: "/var/lib/kubelet/virtkit-operator",
  configuration: { developerConfiguration: { useEmulation: true } },
} as const;
const patience = { timeout: 90_000, interval: 500 };

function connect(): HttpClient {
  const { clusters, users } = JSON.parse(readFileSync(cluster.kubeconfig, "utf8"));
  const { server, "certificate-authority-data": data } = clusters[0].cluster;
  const headers = { authorization: `Bearer ${users[0].user.token}` };
  const tls = { ca: Buffer.from(data, "base64") };
  return new HttpClient({ server, credentials: async () => ({ headers, tls }) });
}

const client = connect();
const said: string[] = [];

beforeAll(async () => {
  try {
    for await (const line of install({ client, ...installation, patience: 90_000 }))
      said.push(line);
  } catch (error) {
    process.stderr.write(`${await whatHappened()}\n`);
    throw error;
  }
}, 120_000);

afterAll(async () => {
  for await (const line of uninstall({ client, ...installation, force: true })) said.push(line);
  for (const node of cluster.nodes) {
    await cluster.runOnNode(node, "rm", ["-rf", installation.stateDirectory]);
  }
  client.close();
}, 120_000);

/** For people who look for the reason of a failure. */
async function whatHappened(): Promise<string> {
  const show = async (...args: readonly string[]): Promise<string> =>
    await cluster.kubectl(args).catch((error: unknown) => String(error));
  const logs = ["virt-api", "virt-controller", "virt-handler"].map((name) =>
    show(
      "logs",
      "-n",
      "kubevirt",
      "-l",
      `kubevirt.io=${name}`,
      "--tail=15",
      "--prefix",
      "--all-containers",
    ),
  );
  return [
    await show("get", "pods", "-A", "-o", "wide"),
    ...(await Promise.all(logs)),
    await show("get", "vm,vmi", "-A", "-o", "yaml"),
    await show("get", "events", "-A"),
  ].join("\n");
}

/** As a user writes it. */
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

async function reach(address: string): Promise<string> {
  try {
    const answer = await fetch(`http://${address}/`, { signal: AbortSignal.timeout(5_000) });
    return await answer.text();
  } catch (error) {
    return String(error);
  }
}

/** What virtctl does with a guest that runs, and what becomes of it while all certificates are renewed. */
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
  const picture = await client.request({ path });
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

/** Where the API servers of VMs and the node agents listen. */
async function servers(): Promise<readonly (readonly [host: string, port: number])[]> {
  const addresses = async (component: string): Promise<readonly string[]> => {
    const selector = ["-n", "kubevirt", "-l", `kubevirt.io=${component}`];
    const output = ["-o", "jsonpath={.items[*].status.podIP}"];
    return (await cluster.kubectl(["get", "pods", ...selector, ...output])).split(" ");
  };
  return [
    ...(await addresses("virt-api")).map((host) => [host, 8443] as const),
    ...(await addresses("virt-handler")).map((host) => [host, 8186] as const),
  ];
}

test("a VM made with kubectl apply runs, has an address, answers on its port, and is gone without a trace", async () => {
  await using namespace = await createNamespace(cluster);
  const inNamespace = ["-n", namespace.name];
  try {
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
    await useStreams(namespace.name);

    // Through the aggregated API, as virtctl does it.
    const stop = `/apis/subresources.kubevirt.io/v1/namespaces/${namespace.name}/virtualmachines/demo/stop`;
    const { status: code } = await cluster.request(stop, { method: "PUT", body: {} });
    expect(code).toBe(202);
    await expect.poll(status, patience).toBe("Stopped");

    await cluster.kubectl(["delete", "vm", "demo", ...inNamespace, "--wait=false"]);
    await expect
      .poll(() => cluster.kubectl(["get", "vm,vmi,pod", ...inNamespace, "-o", "name"]), patience)
      .toBe("");
    for (const node of cluster.nodes) {
      const find = [installation.stateDirectory, "-mindepth", "2"];
      expect((await cluster.runOnNode(node, "find", find)).trim()).toBe("");
    }
  } catch (error) {
    process.stderr.write(`${await whatHappened()}\n`);
    throw error;
  }
}, 150_000);

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
