import { clusterConfig } from "@virtkit/api/config";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import type { Environment } from "../resolve/environment.ts";
import { explainFor } from "./explain-for.ts";
import { nodesAt, nodesFrom } from "./explanation.ts";

const vmi = {
  metadata: { name: "vm", namespace: "ns" },
  spec: {
    domain: { memory: { guest: "1Gi" }, cpu: { cores: 2 }, devices: { disks: [] } },
    volumes: [{ name: "data", persistentVolumeClaim: { claimName: "c" } }],
  },
} as VirtualMachineInstance;
vmi.spec.domain.devices.disks = [{ name: "data", disk: { bus: "virtio" } }];

const { nodes } = explainFor(vmi);

function sourcesOf(path: string, environment?: Environment): string[] {
  const [node] = nodesAt(environment ? explainFor(vmi, environment).nodes : nodes, path);
  return (node?.sources ?? []).map((source) => `${source.kind} ${source.path}`);
}

test("names fields as they were written", () => {
  expect(sourcesOf("cpu.topology.@cores")).toEqual(["field spec.domain.cpu.cores"]);
});

test("names the default of a field that was not written, with its value", () => {
  const [node] = nodesAt(nodes, "os.type.@machine");
  expect(node?.sources[0]).toEqual({
    kind: "default",
    path: "spec.domain.machine.type",
    value: "q35",
    because: 'It follows from the default of spec.domain.machine.type ("q35").',
  });
});

test("names the parts of the environment that matter", () => {
  expect(sourcesOf("devices.disk[0].source.@dev", { blockVolumes: ["data"] })).toContain(
    "environment environment.blockVolumes",
  );
  expect(sourcesOf("devices.memballoon.stats.@period")).toContain(
    "cluster context.memBalloonStatsPeriod",
  );
});

test("names what the cluster's configuration decides, and converts with it each time", () => {
  const config = clusterConfig({ memBalloonStatsPeriod: 7 });
  const [node] = nodesAt(explainFor(vmi, { config }).nodes, "devices.memballoon.stats.@period");
  expect(node?.sources).toContainEqual(
    expect.objectContaining({ path: "context.memBalloonStatsPeriod", value: 7 }),
  );
});

test("a random identity does not mislead it", () => {
  expect(sourcesOf("sysinfo.system.entry[0]")).toEqual(["default spec.domain.firmware.uuid"]);
});

test("also answers the other way: what follows from a field", () => {
  const paths = nodesFrom(nodes, "spec.domain.memory").map(({ path }) => path);
  expect(paths).toContain("memory");
  expect(paths).not.toContain("vcpu");
});
