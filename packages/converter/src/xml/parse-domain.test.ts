import { isDeepStrictEqual } from "node:util";
import { diffXmlTrees, readXmlTree } from "@virtkit/conformance/recorded";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { convert } from "../convert.ts";
import { domainFor } from "../domain-for.ts";
import type { Domain } from "../model/domain.ts";
import { hostFacts } from "../resolve/resolve-context.ts";
import { arbitraryDomain } from "../testing/arbitrary-domain.ts";
import { conversions } from "../testing/conversions.ts";
import { liveDump } from "../testing/live-dump.ts";
import { representativeVmis } from "../testing/representative-vmis.ts";
import { parseDomain } from "./parse-domain.ts";
import { toXml } from "./to-xml.ts";

/** How a document differs from what is written after reading it. */
function losses(xml: string): string[] {
  return diffXmlTrees(readXmlTree(toXml(parseDomain(xml))), readXmlTree(xml));
}

function inDomain(content: string): string {
  return `<domain type="kvm"><name>vm</name>${content}</domain>`;
}

describe("parseDomain", () => {
  test.each(representativeVmis)("returns the domain of $name", ({ vmi, environment }) => {
    const domain = domainFor(vmi, environment);
    expect(parseDomain(toXml(domain))).toEqual(domain);
  });

  test("returns any domain, and any document", () => {
    fc.assert(
      fc.property(arbitraryDomain, (domain) => {
        const parsed = parseDomain(toXml(domain));
        expect(losses(toXml(domain))).toEqual([]);
        expect(parseDomain(toXml(parsed))).toEqual(parsed);
      }),
      { numRuns: 100 },
    );
  });

  test("control: the same property finds a parser that forgets one element", () => {
    const forgetful = (xml: string): Domain => {
      const { iothreads: _forgotten, ...domain } = parseDomain(xml);
      return domain;
    };
    const property = fc.property(
      arbitraryDomain,
      (domain) => toXml(forgetful(toXml(domain))) === toXml(parseDomain(toXml(domain))),
    );
    expect(fc.check(property, { numRuns: 100 }).failed).toBe(true);
  });

  test("loses nothing that libvirt reports about a running guest", () => {
    expect(losses(liveDump)).toEqual([]);
  });

  test("reads what libvirt added as values of the model", () => {
    const { devices, cpu, features, extra } = parseDomain(liveDump);
    expect(extra?.attributes).toEqual({ id: "1" });
    expect(devices.disks[0]?.address).toMatchObject({ type: "pci", bus: "0x07" });
    expect(devices.disks[1]).toMatchObject({ device: "cdrom", source: {} });
    expect(devices.interfaces[0]?.alias?.name).toBe("ua-default");
    expect(cpu.model).toBe("Skylake-Client-IBRS");
    expect(cpu.extra?.inner).toEqual({ model: { attributes: { fallback: "forbid" } } });
    expect(features?.smm).toBe(true);
  });

  test("keeps elements and attributes that the model does not know", () => {
    const xml = inDomain(`<perf><event name="cmt" enabled="yes"/></perf>
      <vendor:thing xmlns:vendor="http://example.org" a="&lt;1&#10;">x <b/> y</vendor:thing>
      <devices future="1"><disk type="file" device="disk" snapshot="no">
        <iotune><read_iops_sec>400000</read_iops_sec></iotune></disk></devices>`);
    const domain = parseDomain(xml);
    expect(losses(xml)).toEqual([]);
    expect(domain.extra?.children).toMatchObject([
      { name: "perf", children: [{ name: "event" }] },
      { name: "vendor:thing", attributes: { a: "<1\n" }, children: ["x ", { name: "b" }, " y"] },
    ]);
    expect(domain.devices.disks[0]?.extra?.attributes).toEqual({ snapshot: "no" });
  });

  test.each([
    [
      "an attribute that should be a number",
      '<devices><controller type="usb" index="0x1"/></devices>',
    ],
    ["a second element where there can be only one", "<uuid>a</uuid><uuid>b</uuid>"],
    ["an element inside text", "<uuid>a<b/></uuid>"],
    ["a feature that is off", '<features><smm state="off"/></features>'],
    [
      "a feature with parameters",
      '<features><smm state="on"><tseg unit="MiB">8</tseg></smm></features>',
    ],
    ["text where there should be none", "<devices>text<emulator>/q</emulator></devices>"],
    ["an element next to text", "<os><loader>/a<b/></loader></os>"],
    [
      "a backend without text",
      '<devices><rng model="virtio"><backend model="egd"><source a="1"/></backend></rng></devices>',
    ],
    ["names beyond ASCII", '<größe 日="1"/>'],
    ["a name that every object inherits", '<__proto__ __proto__="1"/><constructor/>'],
    ["white space alone", "<uuid> </uuid><x> </x>"],
    ["CDATA", "<uuid><![CDATA[a<b]]></uuid>"],
  ])("keeps %s", (_what, content) => {
    expect(losses(inDomain(content))).toEqual([]);
  });

  test("fills in what the type requires, and does not write it", () => {
    const domain = parseDomain("<domain/>");
    expect(domain.devices.disks).toEqual([]);
    expect(domain.metadata.kubevirt.uid).toBe("");
    expect(toXml(domain)).toBe("<domain/>\n");
    domain.devices.emulator = "/usr/bin/qemu-system-x86_64";
    domain.name = "vm";
    expect(toXml(domain)).toBe(
      "<domain>\n  <name>vm</name>\n  <devices>\n    <emulator>/usr/bin/qemu-system-x86_64</emulator>\n  </devices>\n</domain>\n",
    );
  });

  test("reads whole numbers of any size", () => {
    const { memory } = parseDomain(inDomain("<memory>9223372036854775807</memory>"));
    expect(memory.value).toBe(9223372036854775807n);
  });
});

describe("parseDomain, for all recorded cases", () => {
  const cases = conversions();

  test("has cases to judge by", () => {
    expect(cases.filter(({ vmi, resolved, xml }) => vmi && resolved && xml).length).toBeGreaterThan(
      600,
    );
    expect(cases.filter(({ launcherXml }) => launcherXml).length).toBeGreaterThan(300);
  });

  test("returns every domain that we make", { timeout: 60_000 }, () => {
    const wrong = cases.flatMap(({ name, vmi, resolved, environment, xml }) => {
      if (!vmi || !resolved || xml === undefined) return [];
      const domain = convert(vmi, { ...resolved, host: hostFacts(environment) });
      return isDeepStrictEqual(parseDomain(toXml(domain)), compact(domain)) ? [] : [name];
    });
    expect(wrong).toEqual([]);
  });

  test("loses nothing of any document that KubeVirt makes", { timeout: 60_000 }, () => {
    const wrong = cases.flatMap(({ name, xml, launcherXml = xml }) =>
      launcherXml === undefined ? [] : losses(launcherXml).map((loss) => `${name}: ${loss}`),
    );
    expect(wrong).toEqual([]);
  });
});

/** Without properties that are `undefined`, which a parsed domain does not have. */
function compact<T>(value: T): T {
  if (Array.isArray(value)) return value.map(compact) as T;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, child]) => child !== undefined);
  return Object.fromEntries(entries.map(([key, child]) => [key, compact(child)])) as T;
}
