import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { names } from "@virtkit/api/names";
import { HttpClient } from "@virtkit/kube";
import { collectMetrics, prometheusMetrics } from "@virtkit/kube/prometheus";
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { vmiResource } from "../plan/resources.ts";
import { createControllers } from "../service/create-controllers.ts";
import { admittedVmi } from "../service/testing/admit-vmi.ts";
import { serviceWorld, worldConfig } from "../testing/service-world.ts";
import { controllerMetrics } from "./controller-metrics.ts";
import { kubevirtClientMetrics } from "./kubevirt-client-metrics.ts";
import { kubevirtQueueMetrics } from "./kubevirt-queue-metrics.ts";
import { migrationMetrics } from "./migration-metrics.ts";
import { vmMetrics } from "./vm-metrics.ts";
import { vmiMetrics } from "./vmi-metrics.ts";

interface Listed {
  readonly name: string;
  readonly type: string;
  readonly labels?: readonly string[];
}

const cases = new URL("../../../conformance/cases/metrics.json", import.meta.url);
const kubevirts: readonly Listed[] = JSON.parse(readFileSync(cases, "utf8")).components[
  "virt-controller"
];

test("metrics have the names and labels of KubeVirt's virt-controller", () => {
  for (const { name, labels, type = "gauge" } of [
    ...vmMetrics,
    ...vmiMetrics,
    ...migrationMetrics,
  ]) {
    const listed = kubevirts.find((each) => each.name === name);
    expect([name, listed?.type.toLowerCase(), listed?.labels ?? []]).toEqual([name, type, labels]);
  }
});

test("every metric of KubeVirt's virt-controller that is missing here is listed with its reason", () => {
  const here = new Set([...vmMetrics, ...vmiMetrics, ...migrationMetrics].map(({ name }) => name));
  const others = kubevirts
    .map(({ name }) => name)
    .filter((name) => /^kubevirt_(vm_|vmi_|rest_)/.test(name) && !here.has(name))
    .filter((name) => !/phase_transition_time|rest_client_request/.test(name));
  expect(others).toEqual([
    // The client does not limit its rate.
    "kubevirt_rest_client_rate_limiter_duration_seconds",
    // Its labels are those that users put on their VMs, so their number is unbounded.
    "kubevirt_vm_labels",
    // It counts writes for synchronising state between clusters.
    "kubevirt_vmi_sync_total",
  ]);
});

test("requests to the API server are also counted under KubeVirt's names", async () => {
  const registry = new Registry();
  const metrics = kubevirtClientMetrics(prometheusMetrics(registry));
  const server = createServer((_, response) => response.writeHead(404).end("{}"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const host = `127.0.0.1:${port}`;
  const client = new HttpClient(
    { server: `http://${host}`, credentials: async () => ({}) },
    { metrics },
  );
  const name = { namespace: "default", name: "vm" };
  await expect(client.get(vmiResource(names()), name)).rejects.toThrow("404");
  client.close();
  server.close();
  const text = await registry.metrics();
  const resource = "virtualmachineinstances";
  expect(text).toContain(
    `kubevirt_rest_client_requests_total{code="404",method="GET",host="${host}",resource="${resource}",verb="GET"} 1`,
  );
  const url = `https://${host}/apis/kubevirt.io/v1/namespaces/{namespace}/${resource}/{name}`;
  expect(text).toContain(
    `kubevirt_rest_client_request_latency_seconds_count{verb="GET",url="${url}"} 1`,
  );
  for (const [, told = "", type] of text.matchAll(/^# TYPE (kubevirt_\w+) (\w+)$/gm)) {
    expect([told, kubevirts.find((each) => each.name === told)?.type.toLowerCase()]).toEqual([
      told,
      type,
    ]);
  }
});

test("a process that runs the controllers serves what KubeVirt's serves", async () => {
  await using world = await serviceWorld();
  const registry = new Registry();
  const metrics = kubevirtQueueMetrics(prometheusMetrics(registry));
  const client = world.cluster.client("controller");
  const config = () => worldConfig;
  const controllers = createControllers({ client, config, metrics, ...world.time });
  collectMetrics(registry, controllerMetrics(controllers, metrics));
  world.start((signal) => controllers.run({ signal }));
  await world.cluster.clock.pass(5_000);
  await world.cluster.client("user").create(vmiResource(names()), admittedVmi("vm"));
  await world.cluster.clock.pass(30_000);
  const text = await registry.metrics();
  const [info] = text.match(/^kubevirt_vmi_info\{.*$/m) ?? [];
  for (const label of ['name="vm"', 'phase="running"', 'node="node-1"', 'outdated="false"']) {
    expect(info).toContain(label);
  }
  expect(info).toMatch(/vmi_pod="virt-launcher-vm-[0-9a-f]{10}"\} 1$/);
  for (const line of [
    "kubevirt_virt_controller_leading_status 1",
    "kubevirt_virt_controller_ready_status 1",
    "kubevirt_vmi_number_of_outdated 0",
    'kubevirt_vmi_non_evictable{node="node-1",namespace="default",name="vm"} 0',
    "kubevirt_vmi_migrations_in_running_phase 0",
    'kubevirt_vmi_phase_transition_time_from_creation_seconds_count{phase="Scheduled"} 1',
    'kubevirt_vmi_phase_transition_time_seconds_count{phase="Scheduled",last_phase="Scheduling"} 1',
  ]) {
    expect(text).toContain(line);
  }
  expect(text).toMatch(/kubevirt_workqueue_adds_total\{name="virt-controller-vmi"\} \d/);
  const told = [...text.matchAll(/^# TYPE (kubevirt_\w+) (\w+)$/gm)];
  expect(told.length).toBeGreaterThan(15);
  for (const [, name, type] of told) {
    expect([name, kubevirts.find((each) => each.name === name)?.type.toLowerCase()]).toEqual([
      name,
      type,
    ]);
  }
});
