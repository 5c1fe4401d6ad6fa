import { readdirSync, readFileSync } from "node:fs";
import { ManualClock } from "@virtkit/api/clock";
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { Cache } from "../cache/cache.ts";
import { defineResource } from "../client/resource.ts";
import { createController } from "../controller/create-controller.ts";
import { watch } from "../controller/watch.ts";
import { MemoryClient } from "../testing/memory-client.ts";
import { metricDefinitions } from "./metric-definitions.ts";
import { prometheusMetrics, watchAges } from "./prometheus.ts";

const things = defineResource({ version: "v1", plural: "things", kind: "Thing" });

test("metrics show a controller's queue, reconciles, lists and the age of its watches", async () => {
  const registry = new Registry();
  const metrics = prometheusMetrics(registry);
  const clock = new ManualClock();
  const client = new MemoryClient();
  let tries = 0;
  const controller = createController({
    name: "demo",
    client,
    clock,
    metrics,
    watches: [watch(new Cache(things))],
    reconcile: async () => {
      if (++tries === 1) throw new Error("once");
    },
  });
  watchAges(registry, [controller]);
  await client.create(things, { metadata: { name: "a", namespace: "default" } });
  const running = controller.run();
  await clock.pass(7_000);
  const text = await registry.metrics();
  for (const line of [
    'kube_queue_depth{queue="demo"} 0',
    'kube_queue_adds_total{queue="demo"} 2',
    'kube_queue_retries_total{queue="demo"} 1',
    'kube_queue_wait_seconds_count{queue="demo"} 2',
    'kube_reconciles_total{controller="demo",result="error"} 1',
    'kube_reconciles_total{controller="demo",result="success"} 1',
    'kube_reconcile_seconds_count{controller="demo",result="success"} 1',
    'kube_reconciles_at_work{controller="demo"} 0',
    'kube_reflector_lists_total{resource="things"} 1',
    'kube_watch_blind_seconds{controller="demo",watch="things (v1)"} 7',
  ]) {
    expect(text).toContain(line);
  }
  await controller.stop();
  await running;
});

test("unknown metric names work, and unknown labels do no harm", async () => {
  const registry = new Registry();
  const metrics = prometheusMetrics(registry);
  metrics.count("libvirt_events_dropped", { type: "x" });
  metrics.count("libvirt_events_dropped", { other: "y" });
  metrics.observe("pause_seconds", 2);
  const text = await registry.metrics();
  expect(text).toContain('libvirt_events_dropped_total{type="x"} 1');
  expect(text).toContain("pause_seconds_sum 2");
});

test("every metric of this package is defined, and no others", () => {
  const folder = new URL("..", import.meta.url);
  const told = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => /\.ts$/.test(file) && !/\.test\.ts$|^metrics\//.test(file))
    .flatMap((file) => readFileSync(new URL(file, folder), "utf8").match(/"kube_[a-z_]+"/g) ?? []);
  const names = new Set(told.map((name) => JSON.parse(name)));
  expect([...names].sort()).toEqual(Object.keys(metricDefinitions).sort());
});
