import type { XmlNode } from "@virtkit/converter/xml";
import { type AbiRule, childOf, type Sight } from "./abi-rule.ts";

const attributeOf = (node: XmlNode, child: string, name: string): string | undefined =>
  childOf(node, child)?.attributes[name];

const byAlias = (node: XmlNode): string | undefined => attributeOf(node, "alias", "name");

/** Every guest device has them. */
const place = { alias: "guest", address: "guest", boot: "guest", acpi: "guest" } as const;

const rom: AbiRule = { hostAttributes: ["file"] };

const disk: AbiRule = {
  key: (node) => byAlias(node) ?? attributeOf(node, "target", "dev"),
  needsOwn: true,
  hostAttributes: ["type", "snapshot", "rawio", "sgio"],
  children: {
    ...place,
    source: "host",
    backingStore: "host",
    mirror: "host",
    auth: "host",
    encryption: "host",
    iotune: "host",
    throttlefilters: "host",
    // KubeVirt's own, for growing the image; libvirt never sees them.
    filesystemOverhead: "host",
    capacity: "host",
    driver: {
      hostAttributes: [
        "name",
        "type",
        "cache",
        "error_policy",
        "rerror_policy",
        "io",
        "discard",
        "discard_no_unref",
        "detect_zeroes",
        "copy_on_read",
        "iothread",
      ],
      children: { metadata_cache: "host", iothreads: "host" },
    },
    target: { hostAttributes: ["tray"] },
    readonly: "guest",
    shareable: "guest",
    transient: "guest",
    serial: "guest",
    wwn: "guest",
    vendor: "guest",
    product: "guest",
    geometry: "guest",
    blockio: "guest",
  },
};

const card: AbiRule = {
  key: (node) => byAlias(node) ?? attributeOf(node, "mac", "address"),
  needsOwn: true,
  hostAttributes: ["type", "trustGuestRxFilters"],
  children: {
    ...place,
    source: "host",
    target: "host",
    backend: "host",
    portForward: "host",
    bandwidth: "host",
    script: "host",
    downscript: "host",
    tune: "host",
    virtualport: "host",
    filterref: "host",
    vlan: "host",
    actual: "host",
    // For the user-mode network, behind the guest's card.
    ip: "host",
    route: "host",
    rom,
    mac: "guest",
    model: "guest",
    driver: { hostAttributes: ["name"], children: { host: "guest", guest: "guest" } },
    mtu: "guest",
    link: "guest",
    coalesce: "guest",
    teaming: "guest",
  },
};

/** Serial ports and similar devices: their other end belongs to the host. */
const port = {
  needsOwn: true,
  hostAttributes: ["type", "tty"],
  children: { ...place, source: "host", log: "host", protocol: "host", target: "guest" },
} as const satisfies AbiRule;

const channel: AbiRule = {
  ...port,
  key: (node) => attributeOf(node, "target", "name"),
  children: { ...port.children, target: { hostAttributes: ["state"] } },
};

const devices: AbiRule = {
  children: {
    emulator: "host",
    graphics: "host",
    audio: "host",
    disk,
    interface: card,
    controller: {
      key: ({ attributes }) => `${attributes["type"]}-${attributes["index"] ?? "0"}`,
      children: {
        ...place,
        driver: "guest",
        model: "guest",
        target: "guest",
        master: "guest",
        pcihole64: "guest",
      },
    },
    filesystem: {
      key: (node) => attributeOf(node, "target", "dir"),
      needsOwn: true,
      hostAttributes: ["type", "accessmode", "multidevs", "fmode", "dmode"],
      children: {
        ...place,
        source: "host",
        binary: "host",
        driver: { hostAttributes: ["type", "wrpolicy", "format", "name"] },
        target: "guest",
        readonly: "guest",
        idmap: "host",
      },
    },
    serial: port,
    parallel: port,
    // libvirt adds one for the first serial port on its own.
    console: { hostAttributes: port.hostAttributes, children: port.children },
    channel,
    redirdev: {
      needsOwn: true,
      hostAttributes: ["type"],
      children: { ...place, source: "host", protocol: "host" },
    },
    redirfilter: "guest",
    input: { children: { ...place, driver: "guest", source: "own" } },
    hub: "guest",
    tpm: {
      needsOwn: true,
      children: {
        ...place,
        backend: {
          hostAttributes: ["persistent_state", "debug"],
          children: {
            device: "host",
            encryption: "host",
            source: "host",
            active_pcr_banks: "guest",
          },
        },
      },
    },
    sound: { children: { ...place, codec: "guest", driver: "guest", audio: "host" } },
    video: { children: { ...place, model: "guest", driver: "guest" } },
    hostdev: {
      key: byAlias,
      needsOwn: true,
      hostAttributes: ["managed"],
      children: { ...place, source: "host", driver: "host", rom },
    },
    watchdog: { children: place },
    memballoon: { children: { ...place, stats: "host", driver: "guest" } },
    rng: {
      needsOwn: true,
      children: { ...place, backend: "host", rate: "host", driver: "guest" },
    },
    panic: { children: place },
    iommu: { children: { ...place, driver: "guest" } },
    vsock: { children: { ...place, cid: "guest", driver: "guest" } },
    memory: {
      key: byAlias,
      children: { ...place, uuid: "guest", source: "host", target: "guest" },
    },
  },
};

const entries: AbiRule = { children: { entry: "guest" } };

const os: AbiRule = {
  hostAttributes: ["firmware"],
  children: {
    firmware: "host",
    type: "guest",
    loader: { hostText: true, hostAttributes: ["format"] },
    nvram: "host",
    kernel: "host",
    initrd: "host",
    dtb: "host",
    cmdline: "own",
    acpi: "own",
    smbios: "guest",
    bootmenu: "guest",
    boot: "guest",
    bios: "guest",
  },
};

/**
 * Who sees what in a domain: the elements of libvirt that KubeVirt's guests use. An element that is missing here is
 * rejected when it comes from a source, because nobody knows what it reaches.
 */
export const domainRules: AbiRule = {
  hostAttributes: ["id"],
  children: {
    // Not visible to the guest; compared before anything else.
    name: "guest",
    uuid: "guest",
    genid: "guest",
    title: "host",
    description: "host",
    metadata: "host",
    memory: "guest",
    currentMemory: "guest",
    maxMemory: "guest",
    memoryBacking: "host",
    memtune: "host",
    numatune: "host",
    cputune: "host",
    blkiotune: "host",
    resource: "host",
    seclabel: "host",
    perf: "host",
    iothreads: "host",
    iothreadids: "host",
    defaultiothread: "host",
    on_poweroff: "host",
    on_reboot: "host",
    on_crash: "host",
    on_lockfailure: "host",
    vcpu: { hostAttributes: ["placement", "cpuset"] },
    vcpus: "guest",
    sysinfo: {
      key: ({ attributes }) => attributes["type"],
      children: {
        bios: entries,
        system: entries,
        baseBoard: entries,
        chassis: entries,
        oemStrings: entries,
        entry: "own",
      },
    },
    os,
    features: "guest",
    cpu: {
      // How libvirt checks the CPU, not what the guest gets.
      hostAttributes: ["check", "match"],
      children: {
        model: { hostAttributes: ["fallback"] },
        vendor: "guest",
        topology: "guest",
        feature: { key: ({ attributes }) => attributes["name"] },
        numa: "guest",
        cache: "guest",
        maxphysaddr: "guest",
      },
    },
    clock: "guest",
    pm: "guest",
    keywrap: "guest",
    devices,
    "qemu:commandline": "own",
    "qemu:capabilities": "own",
    "qemu:deprecation": "own",
    "qemu:override": "own",
  },
} satisfies AbiRule & { readonly children: Readonly<Record<string, Sight>> };
