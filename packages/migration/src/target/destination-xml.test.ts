import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { parseDomain, toMigrationXml } from "@virtkit/converter";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isMigrationError } from "../migration-error.ts";
import { liveXml, ownXml, uid } from "../testing/live-guest.ts";
import { destinationXml } from "./destination-xml.ts";
import { diffGuestAbi } from "./diff-guest-abi.ts";

const vmi = { metadata: { name: "vm", namespace: "ns", uid } } as VirtualMachineInstance;
const own = parseDomain(ownXml);

const received = (sourceXml: string): string => destinationXml({ vmi, sourceXml, own });

describe("the XML of a destination", () => {
  const xml = received(liveXml);

  test("keeps what the guest sees", () => {
    expect(diffGuestAbi(liveXml, xml)).toEqual([]);
    expect(xml).toContain('machine="pc-q35-rhel9.6.0"');
    expect(xml).toContain("Skylake-Client-IBRS");
    expect(xml).toContain('current="2"');
  });

  test("takes everything that only the host sees from the target", () => {
    expect(xml).not.toContain("/source/");
    expect(xml).not.toContain("tap-source");
    const { devices, cputune, memoryBacking, os } = parseDomain(xml);
    expect(devices.disks[0]).toMatchObject({
      type: "block",
      source: { dev: "/dev/own" },
      driver: { type: "raw", io: "native", queues: 2 },
      address: { bus: "0x07" },
    });
    expect(devices.interfaces[0]?.target?.dev).toBe("tap-own");
    expect(devices.serials[0]?.source?.path).toBe("/own/virt-serial0");
    expect(devices.channels[0]?.source).toBeUndefined();
    expect(devices.emulator).toBeUndefined();
    expect(devices.hostDevices[0]?.source.address?.uuid).toMatch(/^2222/);
    expect(cputune?.vcpupin[0]?.cpuset).toBe("64");
    expect(memoryBacking?.hugepages).toBeDefined();
    expect(os.loader?.path).toBe("/own/OVMF_CODE.fd");
  });

  test("is idempotent", () => {
    expect(received(xml)).toBe(xml);
  });
});

describe("an untrusted source", () => {
  test.each([
    ["another VMI's name", "<name>ns_vm<", "<name>ns_other<", "domain/name"],
    ["no name", "<name>ns_vm</name>", "", "domain/name"],
    ["another UUID", `<uuid>${uid}<`, "<uuid>00000000-0000-0000-0000-000000000000<", "domain/uuid"],
    ["another UID", `<uid>${uid}<`, "<uid>other<", "domain/metadata/kubevirt/uid"],
  ])("%s is rejected", (_what, from, to, path) => {
    expect(() => received(liveXml.replace(from, to))).toThrow(
      expect.objectContaining({ code: "MIGRATION_FOREIGN_DOMAIN", path }),
    );
  });

  test.each([
    [
      "a disk that the target does not have",
      "<controller type='pci' index='0'",
      "<disk type='file' device='disk'><source file='/etc/shadow'/><target dev='vdz' bus='virtio'/></disk><controller type='pci' index='0'",
      "domain/devices/disk[vdz]",
    ],
    [
      "an argument of QEMU",
      "<qemu:arg value='-sandbox'/>",
      "<qemu:arg value='-sandbox'/><qemu:arg value='-drive'/>",
      "domain/qemu:commandline/qemu:arg[1]",
    ],
    [
      "a file that is passed to the firmware",
      "<sysinfo type='smbios'>",
      "<sysinfo type='fwcfg'><entry name='opt/a' file='/etc/shadow'/></sysinfo><sysinfo type='smbios'>",
      "domain/sysinfo[fwcfg]/entry",
    ],
  ])("%s is rejected as different hardware", (_what, from, to, path) => {
    expect(() => received(liveXml.replace(from, to))).toThrow(
      expect.objectContaining({ code: "MIGRATION_ABI_CHANGED", path }),
    );
  });

  const nested = "<a>".repeat(1000) + "</a>".repeat(1000);
  test.each([
    [
      "an unknown element of a domain",
      liveXml.replace("<os>", "<launchSecurity type='sev'/><os>"),
      /domain\/launchSecurity: is unknown \(line/,
    ],
    [
      "an unknown device",
      liveXml.replace("<rng", "<shmem name='x'/><rng"),
      /domain\/devices\/shmem/,
    ],
    [
      "an unknown part of a device",
      liveXml.replace("<serial>S1", "<evil/><serial>S1"),
      /disk\[ua-root\]\/evil/,
    ],
    ["something that is not XML", "hello", /line 1/],
    ["nothing", "", /the source's XML/],
    ["half of the XML", liveXml.slice(0, 900), /the source's XML/],
    ["XML that is too long", liveXml + " ".repeat(3 * 1024 * 1024), /longer than/],
    [
      "entities that expand",
      `<!DOCTYPE d [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><domain>&b;</domain>`,
      /document type/,
    ],
    ["deeply nested elements", `<domain>${nested}</domain>`, /nested/],
    [
      "endless attributes",
      `<domain ${Array.from({ length: 200_001 }, (_, at) => `a${at}=""`).join(" ")}/>`,
      /more than 200000/,
    ],
    ["something that is not a string", 7 as unknown as string, /must be a string/],
  ])("%s is refused", (_what, xml, message) => {
    expect(() => received(xml)).toThrow(
      expect.objectContaining({
        code: "MIGRATION_XML_INVALID",
        message: expect.stringMatching(message),
      }),
    );
  });
});

describe("whatever a source writes", () => {
  const poison = "/poison";
  /** Places that reach into the host, each with what stands there. */
  const places: readonly (readonly [from: string, to: string])[] = [
    ["file='/source/disk.qcow2'", `file='${poison}'`],
    ["<source file='/source/disk_0.img'/>", `<source file='${poison}'/>`],
    ["dev='tap-source'", `dev='${poison}'`],
    ["path='/source/virt-serial0'", `path='${poison}'`],
    ["socket='/source/virt-vnc'>", `socket='${poison}'>`],
    [">/source/OVMF_CODE.fd<", `>${poison}<`],
    ["template='/source/OVMF_VARS.fd'", `template='${poison}'`],
    [">/source/qemu-kvm<", `>${poison}<`],
    [">/source/urandom<", `>${poison}<`],
    ["uuid='11111111-0000-0000-0000-000000000000'", `uuid='${poison}'`],
    ["<label>+107:+107<", `<label>${poison}<`],
    ["<partition>/machine<", `<partition>${poison}<`],
    ["<seclabel", `<numatune><memory nodeset='${poison}'/></numatune><seclabel`],
    ["value='-sandbox'", `value='${poison}'`],
    ["<disk type='file'", `<disk type='file' snapshot='${poison}'`],
    ["<alias name='ua-root'/>", `<auth username='${poison}'/><alias name='ua-root'/>`],
    ["<mtu size", `<script path='${poison}'/><mtu size`],
    ["<audio id='1' type='none'/>", `<audio id='1' type='file' path='${poison}'/>`],
    ["<devices>", `<devices><lease><lockspace>${poison}</lockspace></lease>`],
  ];

  const attack = (chosen: readonly number[]): string =>
    chosen.reduce((xml, at) => xml.replace(...(places[at] ?? ["", ""])), liveXml);

  test("reaches nothing of the host: it is replaced by the target's own, or rejected", () => {
    const some = fc.uniqueArray(fc.nat({ max: places.length - 1 }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(some, (chosen) => {
        const sent = attack(chosen);
        expect(sent).toContain(poison);
        let xml: string;
        try {
          xml = received(sent);
        } catch (error) {
          expect(isMigrationError(error)).toBe(true);
          return;
        }
        expect(xml).not.toContain(poison);
        expect(diffGuestAbi(sent, xml)).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });

  test.each(places.map((_, at) => at))(
    "reaches a target that only edits what it knows (%d)",
    (at) => {
      expect(toMigrationXml(parseDomain(attack([at])), {})).toContain(poison);
    },
  );

  test("gets an answer or a clear error, however it is damaged", () => {
    const damage = fc.array(
      fc.tuple(fc.nat({ max: liveXml.length }), fc.string({ maxLength: 6, unit: "binary" })),
      {
        minLength: 1,
        maxLength: 4,
      },
    );
    fc.assert(
      fc.property(damage, (changes) => {
        const xml = changes.reduce(
          (text, [at, put]) => text.slice(0, at) + put + text.slice(at + put.length),
          liveXml,
        );
        try {
          expect(diffGuestAbi(xml, received(xml))).toEqual([]);
        } catch (error) {
          if (!isMigrationError(error)) throw error;
        }
      }),
      { numRuns: 100 },
    );
  });
});
