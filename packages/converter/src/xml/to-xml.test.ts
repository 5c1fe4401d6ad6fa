import { diffXmlTrees, readXmlTree, type XmlTree } from "@virtkit/conformance/recorded";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { create } from "xmlbuilder2";
import { domainFor } from "../domain-for.ts";
import type { DomainDisk } from "../model/disk.ts";
import { type Domain, domainElement } from "../model/domain.ts";
import { arbitraryDomain, expectedTree } from "../testing/arbitrary-domain.ts";
import { representativeVmis } from "../testing/representative-vmis.ts";
import { toDeviceXml, toXml } from "./to-xml.ts";
import { type WritePlan, writePlan } from "./write-plan.ts";

const small: Domain = {
  type: "kvm",
  name: "default_vm",
  metadata: { kubevirt: { xmlns: "http://kubevirt.io", uid: "" } },
  memory: { unit: "b", value: 1073741824 },
  os: { type: { arch: "x86_64", machine: "q35", os: "hvm" } },
  cpu: { mode: "host-model", features: [] },
  devices: {
    disks: [
      {
        type: "file",
        device: "disk",
        source: { file: "/a.img" },
        target: { dev: "vda", bus: "virtio" },
        readonly: true,
        serial: "S1",
        capacity: 2n ** 60n,
      },
    ],
    controllers: [],
    filesystems: [],
    interfaces: [],
    serials: [],
    consoles: [],
    channels: [],
    inputs: [],
    tpms: [],
    graphics: [],
    sounds: [],
    videos: [],
    hostDevices: [],
    redirectedDevices: [],
    watchdogs: [],
    panics: [],
    iommus: [],
  },
};

function withDisk(change: Record<string, unknown>): Domain {
  const disks = [{ ...small.devices.disks[0], ...change }];
  return { ...small, devices: { ...small.devices, disks } } as Domain;
}

describe("toXml", () => {
  test("writes a domain, indented, with a line break at the end", () => {
    expect(toXml(small)).toMatchInlineSnapshot(`
      "<domain type="kvm">
        <name>default_vm</name>
        <metadata>
          <kubevirt xmlns="http://kubevirt.io">
            <uid></uid>
          </kubevirt>
        </metadata>
        <memory unit="b">1073741824</memory>
        <os>
          <type arch="x86_64" machine="q35">hvm</type>
        </os>
        <cpu mode="host-model"/>
        <devices>
          <disk type="file" device="disk">
            <source file="/a.img"/>
            <target dev="vda" bus="virtio"/>
            <readonly/>
            <serial>S1</serial>
            <capacity>1152921504606846976</capacity>
          </disk>
        </devices>
      </domain>
      "
    `);
  });

  test("writes what the model does not know after what it knows", () => {
    const xml = toXml(
      withDisk({
        extra: {
          attributes: { snapshot: "no" },
          children: [
            { name: "iotune", children: [{ name: "total_bytes_sec", children: ["1 < 2"] }] },
            { name: "geometry", attributes: { cyls: "1", heads: '"' } },
            { name: "mixed", children: ["a", { name: "b", attributes: { c: "d" } }, "e"] },
          ],
        },
      }),
    );
    const disk = readXmlTree(xml).children.find(({ name }) => name === "devices")?.children[0];
    expect(disk?.attributes).toEqual({ type: "file", device: "disk", snapshot: "no" });
    expect(disk?.children.slice(-3)).toMatchObject([
      { name: "iotune", children: [{ name: "total_bytes_sec", text: "1 < 2" }] },
      { name: "geometry", attributes: { cyls: "1", heads: '"' } },
      { name: "mixed", text: "ae", children: [{ name: "b", attributes: { c: "d" } }] },
    ]);
  });

  test("keeps text that the model has no place for, with the elements beside it on one line", () => {
    const xml = toXml(withDisk({ extra: { children: ["stray"] } }));
    expect(xml).toContain(
      "<serial>S1</serial><capacity>1152921504606846976</capacity>stray</disk>",
    );
  });

  test("writes more children than a call can have arguments", () => {
    const children = Array.from({ length: 200_000 }, () => ({ name: "x" }));
    const xml = toXml({ ...small, extra: { children } });
    expect(xml.match(/<x\/>/g)).toHaveLength(200_000);
  });

  test("writes an attribute once, with the model's value, if `extra` has it, too", () => {
    const xml = toXml(withDisk({ extra: { attributes: { snapshot: "no", device: "lun" } } }));
    expect(xml).toContain('<disk type="file" device="disk" snapshot="no">');
  });

  test("writes the same whatever the order of the properties", () => {
    fc.assert(
      fc.property(arbitraryDomain, (domain) => {
        expect(toXml(reversed(domain) as Domain)).toBe(toXml(domain));
      }),
      { numRuns: 50 },
    );
  });

  test.each([
    ["a control character", { serial: "a\u0000" }, "devices.disks[0].serial"],
    ["a lone surrogate", { source: { file: "\ud800" } }, "devices.disks[0].source.file"],
    ["a fraction", { capacity: 1.5 }, "devices.disks[0].capacity"],
    ["NaN", { capacity: Number.NaN }, "devices.disks[0].capacity"],
    ["an object as text", { serial: {} }, "devices.disks[0].serial"],
    ["null", { serial: null }, "devices.disks[0].serial"],
    ["a string as a child", { source: "x" }, "devices.disks[0].source"],
    ["a flag that is not true", { readonly: "yes" }, "devices.disks[0].readonly"],
    [
      "an object as a list",
      { driver: { iothreads: { iothread: {} } } },
      "devices.disks[0].driver.iothreads.iothread",
    ],
    ["a list as a leaf", { serial: [] }, "devices.disks[0].serial"],
    ["a list as a flag", { readonly: [] }, "devices.disks[0].readonly"],
    ["a list as an attribute", { type: [] }, "devices.disks[0].type"],
    [
      "a list of strings as a list of elements",
      { driver: { iothreads: { iothread: ["x"] } } },
      "devices.disks[0].driver.iothreads.iothread[0]",
    ],
    ["an invalid name", { extra: { children: [{ name: "a b" }] } }, "devices.disks[0].extra[0]"],
    ["an invalid attribute", { extra: { attributes: { "1a": "" } } }, "devices.disks[0].extra"],
    [
      "an invalid attribute of a plain value",
      { extra: { inner: { serial: { attributes: { a: "\u0001" } } } } },
      "devices.disks[0].extra.inner.serial.a",
    ],
    [
      "invalid text at a deep level",
      {
        extra: { children: [{ name: "a", children: ["x", { name: "b", children: ["\u0001"] }] }] },
      },
      "devices.disks[0].extra[0][1][0]",
    ],
  ])("refuses %s with its path", (_what, change, path) => {
    expect(() => toXml(withDisk(change))).toThrow(
      expect.objectContaining({ name: "ConverterError", code: "CONVERTER_XML_INVALID", path }),
    );
  });

  test.each(representativeVmis)(
    "$name is built in the order of the tables, for the fast path",
    (given) => {
      const domain = domainFor(given.vmi, given.environment);
      expect(outOfOrder(writePlan(domainElement), domain, "domain")).toEqual([]);
    },
  );

  test("gives the tree that the tables describe, for any domain", () => {
    fc.assert(
      fc.property(arbitraryDomain, (domain) => {
        const wanted = expectedTree(domain as unknown as Record<string, unknown>);
        expect(diffXmlTrees(readXmlTree(toXml(domain)), wanted)).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });

  test("gives the same tree as xmlbuilder2, except for what that does not escape", () => {
    fc.assert(
      fc.property(arbitraryDomain.map(withoutReferences), (domain) => {
        const wanted = expectedTree(domain as unknown as Record<string, unknown>);
        const other = readXmlTree(create({ domain: builderContent(wanted) }).end());
        expect(diffXmlTrees(readXmlTree(toXml(domain)), other)).toEqual([]);
      }),
      { numRuns: 20 },
    );
  });

  test("control: the comparison sees a lost element", () => {
    const lossy = toXml(small).replace("<readonly/>", "");
    expect(diffXmlTrees(readXmlTree(lossy), readXmlTree(toXml(small)))).toEqual([
      "domain/devices/disk/readonly: missing",
    ]);
  });
});

/** Where the properties of an object are not in the order of its table. */
function outOfOrder({ fields, keys }: WritePlan, value: object, path: string): string[] {
  const there = Object.entries(value).filter(([, found]) => found !== undefined);
  const places = there.map(([key]) => keys.indexOf(key));
  const sorted = places.toSorted((a, b) => a - b);
  const own = places.includes(-1) || places.join() !== sorted.join() ? [path] : [];
  const inner = there.flatMap(([key, found]) => {
    const plan = fields[keys.indexOf(key)]?.plan;
    const items = Array.isArray(found) ? found : [found];
    return plan ? items.flatMap((item: object) => outOfOrder(plan, item, `${path}.${key}`)) : [];
  });
  return [...own, ...inner];
}

/** With the properties of every object in reverse order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).reverse();
  return Object.fromEntries(entries.map(([key, inner]) => [key, reversed(inner)]));
}

/**
 * xmlbuilder2 writes `&` in user text unescaped and white space in attributes unchanged, and treats namespaces
 * in its own way: those are left out.
 */
function withoutReferences(domain: Domain): Domain {
  const namespaced = ["xmlns", "xmlnsQemu", "qemuCommandline"];
  const plain = (key: string, value: unknown): unknown => {
    if (namespaced.includes(key)) return undefined;
    return typeof value === "string" ? value.replaceAll(/[&\t\n\r]/g, "_") : value;
  };
  return JSON.parse(JSON.stringify(domain), plain) as Domain;
}

/** A tree in the notation of xmlbuilder2. */
function builderContent(tree: XmlTree): Record<string, unknown> {
  const content: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(tree.attributes)) content[`@${name}`] = value;
  if (tree.text !== "") content["#"] = tree.text;
  for (const child of tree.children) {
    content[child.name] ??= [];
    (content[child.name] as unknown[]).push(builderContent(child));
  }
  return content;
}

describe("toDeviceXml", () => {
  test("writes one device as it stands in the domain", () => {
    const disk: DomainDisk = {
      type: "file",
      device: "disk",
      driver: { name: "qemu", type: "raw" },
      source: { file: "/a&b.img" },
      target: { dev: "sda", bus: "scsi" },
    };
    expect(toDeviceXml("disks", disk)).toBe(`<disk type="file" device="disk">
  <driver name="qemu" type="raw"/>
  <source file="/a&amp;b.img"/>
  <target dev="sda" bus="scsi"/>
</disk>
`);
  });

  test("writes a device without a type of its own as the element that it is", () => {
    const size = { name: "size", attributes: { unit: "b" }, children: ["1"] };
    const device = { name: "memory", children: [{ name: "target", children: [size] }] };
    expect(toDeviceXml("other", device)).toBe(
      `<memory>\n  <target>\n    <size unit="b">1</size>\n  </target>\n</memory>\n`,
    );
  });

  test("refuses what XML cannot express", () => {
    for (const device of [{ name: "a b" }, "memory" as never]) {
      expect(() => toDeviceXml("other", device)).toThrow(
        expect.objectContaining({ code: "CONVERTER_XML_INVALID", path: "other" }),
      );
    }
  });
});
