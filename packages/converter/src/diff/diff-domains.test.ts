import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { describe, expect, test } from "vitest";
import { convert } from "../convert.ts";
import { domainFor } from "../domain-for.ts";
import type { Domain } from "../model/domain.ts";
import { hostFacts } from "../resolve/resolve-context.ts";
import { conversions } from "../testing/conversions.ts";
import { liveDump } from "../testing/live-dump.ts";
import { representativeVmis } from "../testing/representative-vmis.ts";
import { parseDomain } from "../xml/parse-domain.ts";
import { toXml } from "../xml/to-xml.ts";
import { diffDomains } from "./diff-domains.ts";

const base = domainFor({
  metadata: { name: "vm", namespace: "ns" },
  spec: {
    architecture: "amd64",
    domain: {
      cpu: { cores: 1, sockets: 2, maxSockets: 4 },
      memory: { guest: "2Gi", maxGuest: "4Gi" },
      devices: {
        disks: [
          { name: "root", disk: { bus: "virtio" } },
          { name: "iso", cdrom: { bus: "sata" } },
        ],
        interfaces: [{ name: "default", masquerade: {} }],
      },
    },
    networks: [{ name: "default", pod: {} }],
    volumes: [
      { name: "root", persistentVolumeClaim: { claimName: "c" } },
      { name: "iso", containerDisk: { image: "i" } },
    ],
  },
} as unknown as VirtualMachineInstance);

function edited(edit: (domain: Domain) => void, from: Domain = base): Domain {
  const copy = structuredClone(from);
  edit(copy);
  return copy;
}

function hotplugged(name: string, dev: string, bus = "virtio"): Domain["devices"]["disks"][number] {
  return {
    type: "file",
    device: "disk",
    source: { file: `/var/run/kubevirt/hotplug-disks/${name}.img` },
    target: { dev, bus },
    alias: { name: `ua-${name}` },
  };
}

/** Kind and effect of every change, in order. */
function outline(running: Domain, wanted: Domain, options = {}): string[] {
  return diffDomains(running, wanted, options).map(({ kind, effect }) => `${kind} ${effect}`);
}

describe("diffDomains", () => {
  test.each(representativeVmis)(
    "finds nothing between $name and itself",
    ({ vmi, environment }) => {
      const domain = domainFor(vmi, environment);
      expect(diffDomains(domain, domain)).toEqual([]);
      expect(diffDomains(parseDomain(toXml(domain)), domain)).toEqual([]);
    },
  );

  test.each<[string, (domain: Domain) => void, string[]]>([
    [
      "one more hotplugged disk",
      ({ devices }) => devices.disks.push(hotplugged("a", "sdb", "scsi")),
      ["attach-disk live"],
    ],
    [
      "one more SATA disk",
      ({ devices }) => devices.disks.push(hotplugged("a", "sdb", "sata")),
      ["attach-disk needs-restart"],
    ],
    [
      "one more disk of the Pod",
      ({ devices }) => devices.disks.push({ ...hotplugged("a", "vdb"), source: { file: "/x" } }),
      ["attach-disk needs-restart"],
    ],
    ["one disk less", ({ devices }) => devices.disks.shift(), ["detach-disk needs-restart"]],
    [
      "another medium of the Pod",
      ({ devices }) => Object.assign(devices.disks[1]?.source ?? {}, { file: "/y" }),
      ["change-disk needs-restart"],
    ],
    [
      "another cache mode",
      ({ devices }) => Object.assign(devices.disks[0]?.driver ?? {}, { cache: "none" }),
      ["change-disk needs-restart"],
    ],
    [
      "a link that is down",
      ({ devices }) => Object.assign(devices.interfaces[0] ?? {}, { link: { state: "down" } }),
      ["set-link-state live"],
    ],
    [
      "another card",
      ({ devices }) => Object.assign(devices.interfaces[0] ?? {}, { model: { type: "e1000" } }),
      ["change-interface needs-restart"],
    ],
    [
      "one more watchdog",
      ({ devices }) => devices.watchdogs.push({ model: "i6300esb", action: "reset" }),
      ["change-element needs-restart"],
    ],
    [
      "another action on a reboot",
      (domain) => Object.assign(domain, { onReboot: "destroy" }),
      ["change-element needs-restart"],
    ],
    [
      "more CPUs",
      ({ vcpus }) => Object.assign(vcpus?.vcpu[2] ?? {}, { enabled: "yes" }),
      ["set-vcpus needs-migration"],
    ],
    [
      "fewer CPUs",
      ({ vcpus }) => Object.assign(vcpus?.vcpu[1] ?? {}, { enabled: "no" }),
      ["set-vcpus needs-restart"],
    ],
    [
      "more memory",
      ({ memory }) => Object.assign(memory, { value: 3 * 2 ** 30 }),
      ["set-memory needs-migration"],
    ],
    [
      "memory beyond the limit",
      ({ memory }) => Object.assign(memory, { value: 5 * 2 ** 30 }),
      ["set-memory needs-restart"],
    ],
    [
      "less memory than at the start",
      ({ memory }) => Object.assign(memory, { value: 2 ** 30 }),
      ["set-memory needs-restart"],
    ],
    [
      "memory that is not a whole number of blocks",
      ({ memory }) => Object.assign(memory, { value: 3 * 2 ** 30 + 4096 }),
      ["set-memory needs-restart"],
    ],
    [
      "another limit",
      ({ maxMemory }) => Object.assign(maxMemory ?? {}, { value: 8 * 2 ** 30 }),
      ["set-memory-limit needs-restart"],
    ],
    [
      "the same memory in another unit",
      (domain) => Object.assign(domain.memory, { unit: "GiB", value: 2 }),
      [],
    ],
    [
      "a longer grace period",
      ({ metadata }) =>
        Object.assign(metadata.kubevirt, { graceperiod: { deletionGracePeriodSeconds: 9 } }),
      ["set-metadata live"],
    ],
    [
      "a larger volume",
      ({ devices }) => Object.assign(devices.disks[0] ?? {}, { capacity: 2 ** 33 }),
      ["resize-disk live"],
    ],
  ])("%s", (_what, edit, expected) => {
    const running = edited(({ devices }) =>
      Object.assign(devices.disks[0] ?? {}, { capacity: 2 ** 32 }),
    );
    expect(outline(running, edited(edit, running))).toEqual(expected);
  });

  test("an additional network needs a new Pod, unless the cluster plugs it into the old one", () => {
    const wanted = edited(({ devices }) => {
      const [card] = devices.interfaces;
      if (card) devices.interfaces.push({ ...card, alias: { name: "ua-blue" } });
    });
    expect(outline(base, wanted)).toEqual(["attach-interface needs-migration"]);
    expect(outline(base, wanted, { dynamicNetworks: true })).toEqual(["attach-interface live"]);
    expect(outline(wanted, base)).toEqual(["detach-interface live"]);
  });

  test("the Pod's own network and cards named by position stay until a restart", () => {
    for (const dev of ["tap0", "tap1"]) {
      const running = edited(({ devices }) => {
        Object.assign(devices.interfaces[0] ?? {}, { target: { dev, managed: "no" } });
      });
      const wanted = edited(({ devices }) => devices.interfaces.splice(0));
      expect(outline(running, wanted)).toEqual(["detach-interface needs-restart"]);
    }
  });

  test("network functions move with a migration, other host devices need a restart", () => {
    const device = { type: "pci", source: { address: { type: "pci", bus: "0x81" } } };
    const wanted = edited(({ devices }) =>
      devices.hostDevices.push(
        { ...device, alias: { name: "ua-gpu-a" } },
        { ...device, alias: { name: "ua-sriov-net" } },
      ),
    );
    expect(outline(base, wanted)).toEqual([
      "attach-host-device needs-migration",
      "attach-host-device needs-restart",
    ]);
  });

  test("inserts and ejects media live if they are hotplugged", () => {
    const drive = (file?: string): Domain =>
      edited(({ devices }) => {
        Object.assign(devices.disks[1] ?? {}, { source: file === undefined ? {} : { file } });
      });
    const iso = "/var/run/kubevirt/hotplug-disks/iso.img";
    const [insert] = diffDomains(drive(), drive(iso));
    expect(insert).toMatchObject({
      kind: "change-media",
      effect: "live",
      disk: { type: "file", source: { file: iso } },
    });
    const [eject] = diffDomains(drive(iso), drive());
    expect(eject).toMatchObject({ kind: "change-media", effect: "live", disk: { source: {} } });
    expect(
      outline(
        drive(iso),
        edited(({ devices }) => devices.disks.pop()),
      ),
    ).toEqual(["change-media live", "detach-disk needs-restart"]);
  });

  test("unplugs before it plugs in, and live changes come first", () => {
    const running = edited(({ devices }) => devices.disks.push(hotplugged("old", "vdb")));
    const wanted = edited(({ devices, memory }) => {
      devices.disks.push(hotplugged("new", "vdb"));
      devices.watchdogs.push({ model: "i6300esb", action: "reset" });
      memory.value = 3 * 2 ** 30;
    });
    expect(outline(running, wanted)).toEqual([
      "detach-disk live",
      "attach-disk live",
      "set-memory needs-migration",
      "change-element needs-restart",
    ]);
  });

  test("a disk cannot take a name that is not free before the restart", () => {
    const wanted = edited(({ devices }) => devices.disks.splice(0, 1, hotplugged("new", "vda")));
    expect(outline(base, wanted)).toEqual([
      "detach-disk needs-restart",
      "attach-disk needs-restart",
    ]);
  });

  test("ignores what libvirt filled in", () => {
    const running = parseDomain(liveDump);
    const wanted = edited((domain) => {
      const [disk, drive] = domain.devices.disks;
      const [card] = domain.devices.interfaces;
      if (!disk || !drive || !card) throw new Error("the dump has them");
      for (const device of [disk, drive, card]) delete device.address;
      disk.source = { file: disk.source.file };
      domain.devices.controllers = [{ type: "pci", index: 0, model: "pcie-root" }];
      domain.os.type.machine = "q35";
      domain.cpu = { mode: "host-model", topology: { cores: 2, threads: 1 }, features: [] };
      domain.memory = { unit: "b", value: 2 ** 30 };
    }, running);
    expect(diffDomains(running, wanted)).toEqual([]);
    expect(
      outline(
        running,
        edited(({ devices }) => devices.disks.push(hotplugged("a", "vdb")), wanted),
      ),
    ).toEqual(["attach-disk live"]);
    expect(
      outline(
        running,
        edited((domain) => Object.assign(domain.os.type, { machine: "pc" }), wanted),
      ),
    ).toEqual(["change-element needs-restart"]);
  });

  test("ignores that libvirt mirrors the serial port as a console and drops empty strings", () => {
    const live = edited(({ devices, sysinfo }) => {
      devices.consoles = [{ type: "unix", target: { type: "serial", port: 0 } }];
      if (sysinfo) {
        sysinfo.system.entries = sysinfo.system.entries.filter(({ name }) => name !== "sku");
      }
    });
    const wanted = edited(({ sysinfo }) => {
      if (sysinfo) sysinfo.system.entries = [...sysinfo.system.entries, { name: "sku", value: "" }];
    });
    expect(outline(live, wanted, { filledIn: true })).toEqual([]);
    const named = edited(({ sysinfo }) => {
      if (sysinfo)
        sysinfo.system.entries = [...sysinfo.system.entries, { name: "sku", value: "x" }];
    });
    expect(outline(live, named, { filledIn: true })).toEqual(["change-element needs-restart"]);
  });

  test("counts memory that is already plugged in", () => {
    const plugged = `<memory model="virtio-mem"><target><size unit="KiB">2097152</size>
      <node>0</node><requested unit="KiB">1048576</requested></target></memory>`;
    const xml = toXml(base)
      .replace("</devices>", `${plugged}</devices>`)
      .replace(/<memory unit="b">\d+/, `<memory unit="b">${4 * 2 ** 30}`);
    const wanted = edited(({ memory }) => Object.assign(memory, { value: 3 * 2 ** 30 }));
    expect(outline(parseDomain(xml), wanted, { filledIn: true })).toEqual([]);
    expect(outline(parseDomain(xml), base, { filledIn: true })).toEqual([
      "set-memory needs-migration",
    ]);
  });

  test("says what changes and why it cannot be done live", () => {
    const [change] = diffDomains(
      base,
      edited(({ devices }) => devices.disks.shift()),
    );
    expect(change?.summary).toBe('detach the disk "root" (vda)');
    expect(change?.reason).toMatch(/mounted in the Pod/);
  });
});

describe("diffDomains, for all recorded cases", () => {
  test("finds nothing between a domain and its XML", { timeout: 60_000 }, () => {
    const wrong = conversions().flatMap(({ name, vmi, resolved, environment, xml }) => {
      if (!vmi || !resolved || xml === undefined) return [];
      const domain = convert(vmi, { ...resolved, host: hostFacts(environment) });
      return diffDomains(parseDomain(xml), domain).map(({ summary }) => `${name}: ${summary}`);
    });
    expect(wrong).toEqual([]);
  });
});
