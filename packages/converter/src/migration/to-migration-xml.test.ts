import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { diffXmlTrees, readXmlTree, recordedCases } from "@virtkit/conformance/recorded";
import { describe, expect, test } from "vitest";
import { domainFor } from "../domain-for.ts";
import { liveDump } from "../testing/live-dump.ts";
import { representativeVmis } from "../testing/representative-vmis.ts";
import { parseDomain } from "../xml/parse-domain.ts";
import { toXml } from "../xml/to-xml.ts";
import { destinationTarget } from "./destination-target.ts";
import { sourceTarget } from "./source-target.ts";
import { toMigrationXml } from "./to-migration-xml.ts";

const running = parseDomain(liveDump);

/** Lines in which the XML for the destination differs from that of the running guest. */
function changes(target: Parameters<typeof toMigrationXml>[1], domain = running): string[] {
  return diffXmlTrees(readXmlTree(toMigrationXml(domain, target)), readXmlTree(toXml(domain)));
}

describe("toMigrationXml", () => {
  test("changes nothing for an equal destination", () => {
    expect(changes({})).toEqual([]);
    expect(changes({ volumes: {}, taps: {} })).toEqual([]);
  });

  test("puts the other namespace into the paths of disks, once in each", () => {
    const domain = parseDomain(`<domain><devices><disk type="file"><source file="/a/ns/b/ns/c">
      <dataStore type="file"><source file="/ans/ns/x"/></dataStore></source></disk></devices></domain>`);
    const files = (match: "segment" | "text"): (string | undefined)[] => {
      const xml = toMigrationXml(domain, { namespace: { from: "ns", to: "$&", match } });
      const source = parseDomain(xml).devices.disks[0]?.source;
      return [source?.file, source?.dataStore?.source?.file];
    };
    expect(files("segment")).toEqual(["/a/$&/b/ns/c", "/ans/$&/x"]);
    expect(files("text")).toEqual(["/a/$&/b/ns/c", "/a$&/ns/x"]);
  });

  test("replaces the UID wherever it occurs", () => {
    const from = "5d307ca9-b3ef-428c-8861-06e72d69f223";
    expect(changes({ uid: { from, to: "other" } })).toEqual([
      `domain/uuid: text "other", not "${from}"`,
    ]);
    expect(changes({ uid: { from: "", to: "other" } })).toEqual([]);
  });

  test("sets the size of a copied volume, and its new path", () => {
    const xml = toMigrationXml(running, {
      volumes: { containerdisk: { virtualSize: 9, replacement: { dev: "/dev/x" } } },
    });
    const disk = parseDomain(xml).devices.disks[0];
    expect(disk).toMatchObject({ type: "block", source: { dev: "/dev/x" } });
    expect(disk?.source.file).toBeUndefined();
    expect(xml).toContain('<slice type="storage" offset="0" size="9"/>');
  });

  test("gives cards a TAP device named after the network", () => {
    const domain = parseDomain(liveDump.replace("'tap0'", "'tap1'"));
    const [change, ...others] = changes({ taps: { default: "tapabc" } }, domain);
    expect(change).toBe('domain/devices/interface/target/@dev: "tapabc", not "tap1"');
    expect(others).toEqual([]);
    expect(changes({ taps: { default: "tapabc" } })).toEqual([]);
  });

  test("gives the guest the destination's mediated device", () => {
    const hostdev = `<hostdev mode="subsystem" type="mdev"><source><address uuid="a"/></source></hostdev>`;
    const domain = parseDomain(`<domain><devices>${hostdev}</devices></domain>`);
    expect(changes({ mediatedDevice: "b" }, domain)).toEqual([
      'domain/devices/hostdev/source/address/@uuid: "b", not "a"',
    ]);
    const two = parseDomain(`<domain><devices>${hostdev}${hostdev}</devices></domain>`);
    expect(() => toMigrationXml(two, { mediatedDevice: "b" })).toThrow(/second host device/);
  });

  test.each([
    ["no alias", "<disk/>", "devices.disks[0].alias"],
    ["no source", '<disk><alias name="ua-a"/></disk>', "devices.disks[0].source"],
  ])("refuses to copy a disk with %s", (_what, disk, path) => {
    const domain = parseDomain(`<domain><devices>${disk}</devices></domain>`);
    expect(() => toMigrationXml(domain, { volumes: { a: { virtualSize: 1 } } })).toThrow(
      expect.objectContaining({ code: "CONVERTER_XML_INVALID", path }),
    );
  });
});

describe("a guest with dedicated CPUs", () => {
  const { vmi, environment } =
    representativeVmis.find(({ name }) => name === "dedicated-numa") ?? {};
  if (!vmi) throw new Error("there is such a guest");
  const domain = parseDomain(toXml(domainFor(vmi, environment)));
  const cores = domain.cputune?.vcpupin.length ?? 0;
  const cpus = Array.from({ length: cores * 2 + 8 }, (_, at) => ({
    id: 64 + at,
    siblings: [64 + at],
  }));
  const topology = { numa_cells: [{ id: 3, cpus }] };
  const cpuSet = cpus.map(({ id }) => id);

  test("is pinned to those of the destination", () => {
    const target = destinationTarget(domain, vmi, { architecture: "amd64", cpuSet, topology });
    const moved = parseDomain(toMigrationXml(domain, target));
    expect(moved.cputune?.vcpupin[0]?.cpuset).toBe("64");
    expect(moved.numatune?.memory.nodeset).toBe("3");
    expect(moved.features?.kvm?.hintDedicated).toEqual({ state: "on" });
    expect(moved.devices).toEqual(domain.devices);
    expect(domain.cputune?.vcpupin[0]?.cpuset).not.toBe("64");
  });

  test("is pinned by the source if the destination has no hook", () => {
    const migrationState = { targetCPUSet: cpuSet, targetNodeTopology: JSON.stringify(topology) };
    const migrating = { ...vmi, status: { migrationState } } as unknown as VirtualMachineInstance;
    const facts = { destinationHook: false, running: domain };
    expect(sourceTarget(migrating, facts).cpus?.cputune?.vcpupin[0]?.cpuset).toBe("64");
    expect(sourceTarget(migrating, { ...facts, destinationHook: true }).cpus).toBeUndefined();
    expect(() => sourceTarget({ ...vmi, status: {} } as VirtualMachineInstance, facts)).toThrow(
      expect.objectContaining({ path: "status.migrationState.targetNodeTopology" }),
    );
  });
});

describe("toMigrationXml, as KubeVirt does", () => {
  interface Case {
    name: string;
    fn: string;
    input: {
      vmi: VirtualMachineInstance;
      domainXML: string;
      libvirtHooks: boolean;
      diskVirtualSizes?: Record<string, number>;
    };
    expected: { destXML?: string; error?: string };
  }

  test("makes the same XML for the destination", () => {
    const cases = (recordedCases("migration-source") as readonly Case[]).filter(
      ({ fn, expected }) => fn === "migration-params" && expected.destXML !== undefined,
    );
    expect(cases.length).toBeGreaterThan(10);
    const wrong = cases.flatMap(({ name, input, expected }) => {
      const domain = parseDomain(input.domainXML);
      const target = sourceTarget(input.vmi, {
        destinationHook: input.libvirtHooks,
        running: domain,
        virtualSizes: input.diskVirtualSizes ?? {},
      });
      const tree = readXmlTree(toMigrationXml(domain, target));
      return diffXmlTrees(tree, readXmlTree(expected.destXML ?? "")).map(
        (line) => `${name}: ${line}`,
      );
    });
    expect(wrong).toEqual([]);
  });
});
