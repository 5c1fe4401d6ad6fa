import { describe, expect, test } from "vitest";
import type { DomainHook } from "../hooks.ts";
import { checkClaim } from "../testing/check-claims.ts";
import { type Changes, smallContext, smallVmi } from "../testing/conversion.ts";
import { explain } from "./explain.ts";
import { nodesAt, nodesFrom } from "./explanation.ts";

const buses = ["virtio", "sata", "virtio", "scsi"];

/** Disks of several kinds, as many as requested, and some other devices. */
function withDisks(count: number): Required<Pick<Changes, "devices" | "spec" | "domain">> {
  const names = Array.from({ length: count }, (_, at) => `disk-${at}`);
  return {
    domain: { cpu: { cores: 4 }, ioThreadsPolicy: "shared" },
    devices: {
      disks: names.map((name, at) => ({
        name,
        disk: { bus: buses[at % buses.length] ?? "" },
        ...(at % 3 === 0 ? { cache: "none", serial: `S${at}` } : {}),
        ...(at === 8 ? { dedicatedIOThread: true } : {}),
      })),
      interfaces: [{ name: "default", masquerade: {} }],
      rng: {},
    },
    spec: {
      networks: [{ name: "default", pod: {} }],
      volumes: names.map((name, at) => ({
        name,
        ...(at % 5 === 0
          ? { persistentVolumeClaim: { claimName: name } }
          : { emptyDisk: { capacity: "1Gi" } }),
      })),
    },
  };
}

const many = withDisks(40);
const context = smallContext({
  context: { isBlockPVC: Object.fromEntries([0, 10, 20, 30].map((at) => [`disk-${at}`, true])) },
});
const vmi = smallVmi(many);
const { nodes } = explain(vmi, context);

function sourcesOf(path: string): string[] {
  const [node] = nodesAt(nodes, path);
  return (node?.sources ?? []).map(({ kind, path: field }) => `${kind} ${field}`);
}

describe("of a VMI with many disks", () => {
  test("each disk follows from its own fields", () => {
    for (let at = 0; at < 40; at++) {
      expect(sourcesOf(`devices.disk[${at}]`).sort()).toEqual([
        `field spec.domain.devices.disks[${at}]`,
        `field spec.volumes[${at}]`,
      ]);
      expect(sourcesOf(`devices.disk[${at}].alias.@name`).sort()).toEqual([
        `field spec.domain.devices.disks[${at}].name`,
        `field spec.volumes[${at}].name`,
      ]);
      expect(sourcesOf(`devices.disk[${at}].target.@bus`)).toContain(
        `field spec.domain.devices.disks[${at}].disk.bus`,
      );
    }
    expect(sourcesOf("devices.disk[33].serial")[0]).toBe(
      "field spec.domain.devices.disks[33].serial",
    );
    expect(sourcesOf("devices.disk[30].source.@dev")).toContain("node context.isBlockPVC.disk-30");
  });

  test("what belongs to no single disk names the disks that cause it", () => {
    expect(sourcesOf("iothreads")).toContain(
      "field spec.domain.devices.disks[8].dedicatedIOThread",
    );
    expect(nodesFrom(nodes, "spec.domain.devices.rng").map(({ name }) => name)).toContain("rng");
  });

  test("every named field changes the node in an independent test", () => {
    const claims = nodes.flatMap((node) =>
      node.sources
        .filter(({ kind, value }) => value !== undefined && kind !== "default")
        .map((source) => ({ vmi, context, node, source })),
    );
    const some = claims.filter((_, at) => at % 17 === 0);
    expect(some.length).toBeGreaterThan(60);
    const failed = some.filter((claim) => checkClaim(claim) === "fails");
    expect(failed.map(({ node, source }) => [node.path, source.path])).toEqual([]);
  });
});

test("the work grows with the number of disks, not with its square", () => {
  const work = (count: number): number => {
    let disks = 0;
    const counter: DomainHook = {
      name: "counter",
      apply: (domain) => {
        disks += domain.devices.disks.length;
        return domain;
      },
    };
    const changes = withDisks(count);
    explain(smallVmi(changes), smallContext(), { hooks: [counter] });
    return disks / count;
  };
  expect(work(128) / work(40)).toBeLessThan(1.1);
});
