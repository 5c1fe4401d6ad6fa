import { readFileSync } from "node:fs";
import { ManualClock } from "@virtkit/api/clock";
import type { DomainStats } from "@virtkit/domain-manager";
import { expect, test } from "vitest";
import { sampleVmi } from "../testing/sample-vmi.ts";
import { GuestMetrics, type MeasuredGuest } from "./guest-metrics.ts";
import { metricKinds } from "./metric-kinds.ts";
import { prometheusText } from "./prometheus-text.ts";

const sample = sampleVmi();

function guest(name: string, stats: () => Promise<DomainStats>): MeasuredGuest {
  const vmi = {
    ...sample,
    metadata: { ...sample.metadata, name, uid: `uid-${name}` },
    spec: { ...sample.spec, networks: [{ name: "default", pod: {} }] },
    status: {
      nodeName: "n1",
      conditions: [{ type: "AgentConnected", status: "True" as const }],
    },
  };
  const status = { disks: [{ volume: "root", target: "vda" }] };
  return { vmi, status, launcher: { stats, fileSystems: async () => [hostile] } };
}

const hostile = {
  diskName: 'a"} 1\nevil 1',
  mountPoint: "\\",
  fileSystemType: "ext4",
  usedBytes: 1,
  totalBytes: 2,
  disks: [],
};

const counted: DomainStats = {
  "cpu.time": 2_500_000_000,
  "balloon.current": 1024,
  "vcpu.maximum": 1,
  "vcpu.0.time": 1e9,
  "vcpu.0.state": 1,
  "net.count": 1,
  "net.0.name": "tap0",
  "net.0.rx.bytes": 5,
  "block.count": 2,
  "block.0.name": "vda",
  "block.0.rd.reqs": 3,
  "block.1.name": "vdb",
  "block.1.rd.reqs": 4,
};

test("one bulk call becomes samples with KubeVirt's names and the VMI's device names", async () => {
  let calls = 0;
  const metrics = new GuestMetrics();
  const stats = async (): Promise<DomainStats> => {
    calls++;
    return counted;
  };
  const text = prometheusText(await metrics.collect([guest("a", stats)]));
  expect(calls).toBe(1);
  for (const line of [
    'kubevirt_vmi_cpu_usage_seconds_total{node="n1",namespace="default",name="a"} 2.5',
    'kubevirt_vmi_memory_domain_bytes{node="n1",namespace="default",name="a"} 1048576',
    "# TYPE kubevirt_vmi_vcpu_seconds_total counter",
  ]) {
    expect(text).toContain(`${line}\n`);
  }
  expect(text).toMatch(/receive_bytes_total\{[^}]*interface="default"\} 5\n/);
  expect(text).toMatch(/iops_read_total\{[^}]*drive="root"\} 3\n/);
  expect(text).toMatch(/iops_read_total\{[^}]*drive="vdb"\} 4\n/);
  // A guest cannot add samples of its own.
  expect(text.split("\n").filter((line) => line.startsWith("evil"))).toEqual([]);
  expect(text).toContain('disk_name="a\\"} 1\\nevil 1",mount_point="\\\\"');
});

test("a launcher that does not answer delays only itself, and is asked once", async () => {
  const clock = new ManualClock();
  const metrics = new GuestMetrics({ clock, concurrency: 2 });
  let asked = 0;
  const never = (): Promise<never> => {
    asked++;
    return new Promise(() => {});
  };
  const guests = [
    guest("stuck", never),
    ...["a", "b", "c"].map((name) => guest(name, async () => counted)),
  ];
  const names = async (): Promise<string[]> => {
    const collecting = metrics.collect(guests);
    await clock.pass(8_000);
    return [...new Set((await collecting).map(({ labels }) => labels["name"] ?? ""))];
  };
  expect(await names()).toEqual(["a", "b", "c"]);
  expect(await names()).toEqual(["a", "b", "c"]);
  expect(asked).toBe(1);
});

test("collections that overlap share the answer of a launcher, and lose no guest", async () => {
  const clock = new ManualClock();
  const metrics = new GuestMetrics({ clock });
  let asked = 0;
  let answer = (_: DomainStats): void => {};
  const slow = (): Promise<DomainStats> => {
    asked++;
    return new Promise((resolve) => {
      answer = resolve;
    });
  };
  const guests = [guest("slow", slow)];
  const first = metrics.collect(guests);
  await clock.pass(1_000);
  const second = metrics.collect(guests);
  await clock.pass(1_000);
  answer(counted);
  const names = async (samples: ReturnType<GuestMetrics["collect"]>): Promise<Set<unknown>> =>
    new Set((await samples).map(({ labels }) => labels["name"]));
  expect(await names(first)).toEqual(new Set(["slow"]));
  expect(await names(second)).toEqual(new Set(["slow"]));
  expect(asked).toBe(1);
});

test("a launcher that lies about its counts is not believed", async () => {
  const metrics = new GuestMetrics();
  const stats = async (): Promise<DomainStats> => ({
    "net.count": 1e9,
    "cpu.time": "x",
    "vcpu.maximum": -1,
  });
  expect(await metrics.collect([guest("a", stats)])).toHaveLength(2);
});

test("a launcher with endless file systems and names leaves the metrics of others alone, and its own are cut", async () => {
  const long = "x".repeat(4_096);
  const honest = guest("honest", async () => counted);
  const liar = guest("liar", async () => ({
    "block.count": 1,
    "block.0.name": long,
    "block.0.rd.reqs": 1,
  }));
  const named = { ...hostile, diskName: long, mountPoint: long, fileSystemType: long };
  const fileSystems = async () => Array.from({ length: 100_000 }, () => named);
  const beside = { ...liar, launcher: { ...liar.launcher, fileSystems } };
  const samples = await new GuestMetrics().collect([beside, honest]);
  expect(samples.filter(({ labels }) => labels["name"] === "honest")).toHaveLength(10);
  const own = samples.filter(({ labels }) => labels["name"] === "liar");
  expect(own.length).toBeLessThan(1_000);
  const texts = own.flatMap(({ labels }) => Object.values(labels));
  expect(Math.max(...texts.map(({ length }) => length))).toBe(256);
});

const figures = {
  ...{ total: 1000, transferred: 600, remaining: 400 },
  ...{ dirtyBytesPerSecond: 30, momentaryBytesPerSecond: 50 },
};

test("KubeVirt's metrics show how far a migration is, even if the launcher does not answer", async () => {
  const clock = new ManualClock();
  const metrics = new GuestMetrics({ clock });
  const moving = { ...guest("a", () => new Promise(() => {})), migration: figures };
  const collecting = metrics.collect([moving, guest("b", async () => ({}))]);
  await clock.pass(8_000);
  const text = prometheusText(await collecting);
  const told = text.split("\n").filter((line) => line.startsWith("kubevirt_vmi_migration"));
  const labels = '{node="n1",namespace="default",name="a"}';
  expect(told).toEqual([
    `kubevirt_vmi_migration_data_bytes_total${labels} 1000`,
    `kubevirt_vmi_migration_data_processed_bytes${labels} 600`,
    `kubevirt_vmi_migration_data_remaining_bytes${labels} 400`,
    `kubevirt_vmi_migration_dirty_memory_rate_bytes${labels} 30`,
    `kubevirt_vmi_migration_memory_transfer_rate_bytes${labels} 50`,
  ]);
});

test("a migration whose amounts are not known yet, and a guest that does not move, report no progress", async () => {
  const setup = { ...guest("a", async () => counted), migration: { ...figures, total: 0 } };
  const samples = await new GuestMetrics().collect([setup, guest("b", async () => counted)]);
  expect(samples.filter(({ metric }) => metric.includes("migration"))).toEqual([]);
  expect(new Set(samples.map(({ labels }) => labels["name"]))).toEqual(new Set(["a", "b"]));
});

interface Recorded {
  readonly components: {
    readonly "virt-handler": readonly { name: string; type: string; labels?: string[] }[];
  };
}

test("all of virt-handler's metrics about migrations are reported, with their labels", async () => {
  const file = new URL("../../../conformance/cases/metrics.json", import.meta.url);
  const { components } = JSON.parse(readFileSync(file, "utf8")) as Recorded;
  const theirs = components["virt-handler"]
    .filter(({ name }) => name.startsWith("kubevirt_vmi_migration_"))
    .map(({ name, labels = [] }) => [name, labels.toSorted()] as const);
  const moving = { ...guest("a", async () => ({})), migration: figures };
  const ours = (await new GuestMetrics().collect([moving]))
    .filter(({ metric }) => metric.startsWith("kubevirt_vmi_migration_"))
    .map(({ metric, labels }) => [metric, Object.keys(labels).toSorted()] as const);
  expect(new Map(ours)).toEqual(new Map(theirs));
});

test("names and types are those of KubeVirt's virt-handler", () => {
  const file = new URL("../../../conformance/cases/metrics.json", import.meta.url);
  const recorded = JSON.parse(readFileSync(file, "utf8")) as {
    components: { "virt-handler": { name: string; type: string }[] };
  };
  const theirs = new Map(
    recorded.components["virt-handler"].map(({ name, type }) => [name, type.toLowerCase()]),
  );
  for (const [name, { type }] of Object.entries(metricKinds)) {
    expect([name, theirs.get(name)]).toEqual([name, type]);
  }
});
