import { expect, test } from "vitest";
import { attachCluster } from "../cluster/attach-cluster.ts";
import { createNamespace } from "../cluster/cluster-namespace.ts";
import { idle, shell } from "../testing/shell-container.ts";

const cluster = attachCluster();

test("a Service's address works from Pods on its own node and on the other, and from the Pod behind it", async () => {
  await using namespace = await createNamespace(cluster);
  const server = "require('http').createServer((q, a) => a.end(process.env.HOSTNAME)).listen(8080)";
  const serve = shell("", { command: ["node", "-e", server] });
  const labels = { app: "hello" };
  await namespace.createPod("behind", { nodeName: "node-1", containers: [serve] }, { labels });
  await namespace.createPod("near", { nodeName: "node-1", containers: [shell(idle)] });
  await namespace.createPod("far", { nodeName: "node-2", containers: [shell(idle)] });
  const created = await cluster.request(`/api/v1/namespaces/${namespace.name}/services`, {
    method: "POST",
    body: {
      metadata: { name: "hello" },
      spec: { selector: labels, ports: [{ port: 80, targetPort: 8080 }] },
    },
  });
  const { clusterIP } = (created.body as { spec: { clusterIP: string } }).spec;
  await Promise.all(["behind", "near", "far"].map((name) => namespace.untilReady(name)));
  const get = `fetch('http://${clusterIP}/').then((a) => a.text()).then(console.log, (e) => console.log(e.cause.code))`;
  for (const pod of ["near", "far", "behind"]) {
    await expect
      .poll(async () => await namespace.exec(pod, "node", "-e", get), { message: pod })
      .toBe("behind\n");
  }
});

test("a Pod reaches the API server by its Service, with its own token and only that token's rights", async () => {
  await using namespace = await createNamespace(cluster);
  await namespace.createPod("caller", { containers: [shell(idle)] });
  await namespace.untilReady("caller");
  const account = "/var/run/secrets/kubernetes.io/serviceaccount";
  const script = `const { readFileSync } = require('fs');
    const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
    const headers = { authorization: 'Bearer ' + readFileSync('${account}/token') };
    for (const path of ['/version', '/api/v1/nodes'])
      require('https').get({ host, port, path, headers, ca: readFileSync('${account}/ca.crt') }, (a) => console.log(path, a.resume().statusCode));`;
  const answers = (await namespace.exec("caller", "node", "-e", script)).trim().split("\n").sort();
  expect(answers).toEqual(["/api/v1/nodes 403", "/version 200"]);
});
