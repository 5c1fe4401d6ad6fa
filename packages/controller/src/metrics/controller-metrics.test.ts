import { readFileSync } from "node:fs";
import { names } from "@virtkit/api/names";
import { collectMetrics, prometheusMetrics } from "@virtkit/kube/prometheus";
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { vmiResource } from "../plan/resources.ts";
import { createControllers } from "../service/create-controllers.ts";
import { admittedVmi } from "../service/testing/admit-vmi.ts";
import { serviceWorld, worldConfig } from "../testing/service-world.ts";
import { controllerMetrics } from "./controller-metrics.ts";
import { kubevirtQueueMetrics } from "./kubevirt-queue-metrics.ts";
import { migrationMetrics } from "./migration-metrics.ts";
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

test("names and labels are those of KubeVirt's virt-controller", () => {
  for (const { name, labels } of [...vmiMetrics, ...migrationMetrics]) {
    const listed = kubevirts.find((each) => each.name === name);
    expect([name, listed?.type, listed?.labels ?? []]).toEqual([name, "Gauge", labels]);
  }
});

test("a process that runs the controllers is seen from outside as KubeVirt's is", async () => {
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
