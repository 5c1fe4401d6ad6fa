import { describe, expect, test } from "vitest";
import { isApiError } from "../api-error.ts";
import { clusterConfig } from "../config/index.ts";
import type {
  DomainSpec,
  KubeVirtConfiguration,
  VirtualMachineInstance,
  VirtualMachineInstanceSpec,
} from "../schema/index.ts";
import { defaultVirtualMachineInstance } from "./default-virtual-machine-instance.ts";

const options = { uuid: () => "made-up", now: () => new Date("2026-02-03T04:05:06.789Z") };

type Loose<T> = { [K in keyof T]?: T[K] };

function vmiOf(
  domain: Loose<DomainSpec> = {},
  spec: Loose<VirtualMachineInstanceSpec> = {},
): VirtualMachineInstance {
  return { metadata: { name: "vm" }, spec: { ...spec, domain: { devices: {}, ...domain } } };
}

function defaulted(
  vmi: VirtualMachineInstance,
  configuration: KubeVirtConfiguration = {},
): VirtualMachineInstance {
  return defaultVirtualMachineInstance(vmi, clusterConfig(configuration), options);
}

test("the argument is not changed", () => {
  const vmi = vmiOf({ devices: { disks: [{ name: "a" }] } }, { volumes: [{ name: "a" }] });
  const before = JSON.stringify(vmi);
  defaulted(vmi);
  expect(JSON.stringify(vmi)).toBe(before);
});

test("a VMI with only memory becomes one that can start", () => {
  expect(defaulted(vmiOf({ memory: { guest: "1Gi" } }))).toEqual({
    metadata: {
      name: "vm",
      annotations: { "kubevirt.io/pci-topology-version": "v3" },
      finalizers: ["kubevirt.io/foregroundDeleteVirtualMachine"],
    },
    spec: {
      architecture: "amd64",
      evictionStrategy: "None",
      networks: [{ name: "default", pod: {} }],
      domain: {
        cpu: { cores: 1, sockets: 1, threads: 1, maxSockets: 4, model: "host-model" },
        devices: { interfaces: [{ name: "default", bridge: {} }] },
        features: { acpi: { enabled: true } },
        firmware: { uuid: "made-up" },
        machine: { type: "q35" },
        memory: { guest: "1Gi", maxGuest: "4Gi" },
        resources: {},
      },
    },
    status: {
      phase: "Pending",
      phaseTransitionTimestamps: [
        { phase: "Pending", phaseTransitionTimestamp: "2026-02-03T04:05:06Z" },
      ],
      guestOSInfo: {},
      runtimeUser: 107,
      currentCPUTopology: { cores: 1, sockets: 1, threads: 1 },
      memory: { guestAtBoot: "1Gi", guestCurrent: "1Gi", guestRequested: "1Gi" },
    },
  });
});

describe("guest memory", () => {
  test.each([
    [{ resources: { requests: { memory: "1Gi" }, limits: { memory: "2Gi" } } }, "1Gi"],
    [{ resources: { limits: { memory: "2048Mi" } } }, "2Gi"],
    [{ memory: { hugepages: { pageSize: "2Mi" } } }, "2Mi"],
    [{ memory: { guest: "3Gi" }, resources: { requests: { memory: "1Gi" } } }, "3Gi"],
    [{ memory: { hugepages: { pageSize: "big" } } }, undefined],
    [{}, undefined],
  ])("%j is %s", (domain, guest) => {
    expect(defaulted(vmiOf(domain)).spec.domain.memory?.guest).toBe(guest);
  });
});

describe("processors", () => {
  test.each([
    [{ resources: { limits: { cpu: "3" }, requests: { cpu: "2" } } }, 3],
    [{ resources: { requests: { cpu: "1500m" } } }, 2],
    [{}, 1],
  ])("%j without a topology has as many sockets as CPUs", (domain, sockets) => {
    expect(defaulted(vmiOf(domain)).spec.domain.cpu).toMatchObject({
      sockets,
      cores: 1,
      threads: 1,
    });
  });

  test("keeps a given topology", () => {
    const { cpu } = defaulted(vmiOf({ cpu: { cores: 2 } })).spec.domain;
    expect(cpu).toEqual({ cores: 2, model: "host-model" });
  });

  test("a limit is also the request", () => {
    const { resources } = defaulted(vmiOf({ resources: { limits: { cpu: "2" } } })).spec.domain;
    expect(resources?.requests).toEqual({ cpu: "2" });
  });

  test("the cluster's request applies to VMIs without one that share their CPUs", () => {
    const requested = (domain: Loose<DomainSpec>): unknown =>
      defaulted(vmiOf(domain), { cpuRequest: "250m" }).spec.domain.resources?.requests?.["cpu"];
    expect(requested({})).toBe("250m");
    expect(requested({ resources: { requests: { cpu: "1" } } })).toBe("1");
    expect(requested({ cpu: { dedicatedCpuPlacement: true } })).toBeUndefined();
  });

  test("the cluster's model applies if the VMI has none", () => {
    const model = (domain: Loose<DomainSpec>): unknown =>
      defaulted(vmiOf(domain), { cpuModel: "Skylake" }).spec.domain.cpu?.model;
    expect(model({})).toBe("Skylake");
    expect(model({ cpu: { model: "Penryn" } })).toBe("Penryn");
  });
});

describe("room to grow", () => {
  test.each<[Loose<DomainSpec>, KubeVirtConfiguration, number | undefined]>([
    [{ cpu: { sockets: 2, cores: 1, threads: 1 } }, {}, 8],
    [{ cpu: { sockets: 100, cores: 2, threads: 2 } }, {}, 128],
    [{ cpu: { sockets: 300, cores: 2, threads: 2 } }, {}, 300],
    [{ cpu: { sockets: 2 ** 31, cores: 1, threads: 1 } }, {}, undefined],
    [{ cpu: { sockets: 3, cores: 65537, threads: 2 ** 30 } }, {}, 12],
    [{ cpu: { sockets: 2, cores: 1, threads: 1, maxSockets: 3 } }, {}, 3],
    [{}, { liveUpdateConfiguration: { maxCpuSockets: 9 } }, 9],
    [
      { cpu: { sockets: 12, cores: 1, threads: 1 } },
      { liveUpdateConfiguration: { maxCpuSockets: 9 } },
      12,
    ],
    [{}, { vmRolloutStrategy: "Stage" }, undefined],
  ])("%j with %j may have %s sockets", (domain, configuration, maxSockets) => {
    expect(defaulted(vmiOf(domain), configuration).spec.domain.cpu?.maxSockets).toBe(maxSockets);
  });

  test.each<[Loose<DomainSpec>, Loose<VirtualMachineInstanceSpec>, unknown]>([
    [{ memory: { guest: "1Gi" } }, {}, "4Gi"],
    [{ memory: { guest: "1Gi", maxGuest: "2Gi" } }, {}, "2Gi"],
    [{ memory: { guest: "512Mi" } }, {}, undefined],
    [{ memory: { guest: "2G" } }, {}, undefined],
    [{ memory: { guest: "1Gi" } }, { architecture: "s390x" }, undefined],
    [{ memory: { guest: "1Gi" } }, { architecture: "arm64" }, undefined],
    [{ memory: { guest: "1Gi" }, cpu: { realtime: {} } }, {}, undefined],
    [{ memory: { guest: "1Gi" }, cpu: { numa: { guestMappingPassthrough: {} } } }, {}, undefined],
    [{ memory: { guest: "1Gi" }, launchSecurity: { sev: {} } }, {}, undefined],
    [{ memory: { guest: "1536Mi", hugepages: { pageSize: "1Gi" } } }, {}, undefined],
  ])("%j %j may have %s of memory", (domain, spec, maxGuest) => {
    expect(defaulted(vmiOf(domain, spec)).spec.domain.memory?.maxGuest).toBe(maxGuest);
  });

  test("the cluster may set the maximum memory", () => {
    const { memory } = defaulted(vmiOf({ memory: { guest: "1Gi" } }), {
      liveUpdateConfiguration: { maxGuest: "6Gi" },
    }).spec.domain;
    expect(memory?.maxGuest).toBe("6Gi");
  });
});

describe("network", () => {
  test("a VMI with a network or an interface gets no other", () => {
    const network = vmiOf({}, { networks: [{ name: "n", multus: { networkName: "n" } }] });
    expect(defaulted(network).spec.domain.devices.interfaces).toBeUndefined();
    const off = vmiOf({ devices: { autoattachPodInterface: false } });
    expect(defaulted(off).spec.networks).toBeUndefined();
  });

  test("the binding is the cluster's", () => {
    const { spec } = defaulted(vmiOf(), { network: { defaultNetworkInterface: "masquerade" } });
    expect(spec.domain.devices.interfaces).toEqual([{ name: "default", masquerade: {} }]);
  });

  test.each([{ defaultNetworkInterface: "slirp" }, { permitBridgeInterfaceOnPodNetwork: false }])(
    "a cluster with %j cannot provide a default network",
    (network) => {
      try {
        defaulted(vmiOf(), { network });
        expect.unreachable();
      } catch (error) {
        expect(isApiError(error) && error.code).toBe("API_DEFAULTS_IMPOSSIBLE");
      }
    },
  );
});

describe("disks", () => {
  const targets = [{ name: "a" }, { name: "b", cdrom: {} }, { name: "c", lun: {} }];

  test.each([
    ["amd64", "sata"],
    ["arm64", "virtio"],
    ["s390x", "virtio"],
  ])("on %s they use the bus %s", (architecture, bus) => {
    const { devices } = defaulted(vmiOf({ devices: { disks: targets } }, { architecture })).spec
      .domain;
    expect(devices.disks).toEqual([
      { name: "a", disk: { bus } },
      { name: "b", cdrom: { bus, readonly: true, tray: "closed" } },
      { name: "c", lun: { bus } },
    ]);
  });

  test("a volume without a disk gets one", () => {
    const vmi = vmiOf(
      { devices: { filesystems: [{ name: "fs", virtiofs: {} }] } },
      { volumes: [{ name: "fs" }, { name: "data" }] },
    );
    expect(defaulted(vmi).spec.domain.devices.disks).toEqual([
      { name: "data", disk: { bus: "sata" } },
    ]);
  });

  test.each([
    ["image", "Always"],
    ["image:latest", "Always"],
    ["image:v1", "IfNotPresent"],
    ["image@sha256:0", "IfNotPresent"],
  ])("the image %s is pulled %s", (image, policy) => {
    const { volumes } = defaulted(
      vmiOf({}, { volumes: [{ name: "a", containerDisk: { image } }] }),
    ).spec;
    expect(volumes?.[0]?.containerDisk?.imagePullPolicy).toBe(policy);
  });
});

describe("features", () => {
  test("a present feature is on", () => {
    const { features, clock, devices } = defaulted(
      vmiOf({
        features: {
          apic: {},
          smm: { enabled: false },
          hyperv: { relaxed: {}, spinlocks: {}, synictimer: { direct: {} } },
        },
        clock: { timer: { hpet: {}, rtc: { present: false } } },
        devices: { inputs: [{ name: "i", type: "" }] },
      }),
    ).spec.domain;
    const on = { enabled: true };
    expect(features).toEqual({
      acpi: on,
      apic: on,
      smm: { enabled: false },
      hyperv: {
        relaxed: on,
        spinlocks: { enabled: true, spinlocks: 4096 },
        synictimer: { enabled: true, direct: on },
        synic: on,
        vpindex: on,
      },
    });
    expect(clock?.timer).toEqual({ hpet: { present: true }, rtc: { present: false } });
    expect(devices.inputs).toEqual([{ name: "i", type: "tablet", bus: "usb" }]);
  });

  test("the enlightened VMCS adds vapic and the CPU feature vmx", () => {
    const { features, cpu } = defaulted(
      vmiOf({
        features: { hyperv: { evmcs: {} } },
        cpu: { features: [{ name: "vmx", policy: "forbid" }, { name: "apic" }] },
      }),
    ).spec.domain;
    expect(features?.hyperv?.vapic).toEqual({ enabled: true });
    expect(cpu?.features).toEqual([{ name: "vmx", policy: "require" }, { name: "apic" }]);
  });

  test("leaves an explicitly disabled dependency to admission", () => {
    const hyperv = {
      synic: { enabled: true },
      vpindex: { enabled: false },
      evmcs: { enabled: false },
    };
    const { features } = defaulted(vmiOf({ features: { hyperv } })).spec.domain;
    expect(features?.hyperv).toEqual(hyperv);
  });

  test("ACPI is off on s390x by default", () => {
    const acpi = (enabled?: boolean): unknown =>
      defaulted(
        vmiOf(enabled === undefined ? {} : { features: { acpi: { enabled } } }, {
          architecture: "s390x",
        }),
      ).spec.domain.features?.acpi;
    expect(acpi()).toEqual({ enabled: false });
    expect(acpi(true)).toEqual({ enabled: true });
  });
});

test("arm64 boots EFI without secure boot, on the host's CPU, by default", () => {
  const { firmware, cpu } = defaulted(vmiOf({}, { architecture: "arm64" })).spec.domain;
  expect(firmware?.bootloader).toEqual({ efi: { secureBoot: false } });
  expect(cpu?.model).toBe("host-passthrough");
  const bios = vmiOf({ firmware: { bootloader: { bios: {} } } }, { architecture: "arm64" });
  expect(defaulted(bios).spec.domain.firmware?.bootloader).toEqual({ bios: {} });
});

test.each([
  ["amd64", "i6300esb"],
  ["s390x", "diag288"],
])("the watchdog of %s is %s", (architecture, kind) => {
  const vmi = vmiOf({ devices: { watchdog: { name: "w" } } }, { architecture });
  expect(defaulted(vmi).spec.domain.devices.watchdog).toEqual({
    name: "w",
    [kind]: { action: "reset" },
  });
});

test("a probe gets its timing", () => {
  const { readinessProbe } = defaulted(vmiOf({}, { readinessProbe: { periodSeconds: 3 } })).spec;
  expect(readinessProbe).toEqual({
    timeoutSeconds: 1,
    periodSeconds: 3,
    successThreshold: 1,
    failureThreshold: 3,
  });
});

describe("annotations and status", () => {
  test("only a PCIe guest records its PCI layout, and only once", () => {
    const layout = (type: string, version?: string): unknown => {
      const vmi = vmiOf({ machine: { type } });
      if (version) vmi.metadata = { annotations: { "kubevirt.io/pci-topology-version": version } };
      return defaulted(vmi).metadata?.annotations?.["kubevirt.io/pci-topology-version"];
    };
    expect(layout("pc-q35-9.0")).toBe("v3");
    expect(layout("q35", "v2")).toBe("v2");
    expect(layout("pc-i440fx-9.0")).toBeUndefined();
  });

  test("a TDX guest gets the address of the quote service", () => {
    const { metadata } = defaulted(vmiOf({ launchSecurity: { tdx: {} } }));
    expect(metadata?.annotations?.["kubevirt.io/qgs-socket-path"]).toBe(
      "/var/run/tdx-qgs/qgs.socket",
    );
  });

  test("an isolated emulator thread follows the cluster's parity, if the gate is on", () => {
    const parity = "alpha.kubevirt.io/EmulatorThreadCompleteToEvenParity";
    const annotated = (featureGates: string[]): unknown => {
      const kubevirt = {
        metadata: { annotations: { [parity]: "" } },
        spec: { configuration: { developerConfiguration: { featureGates } } },
      };
      const vmi = vmiOf({ cpu: { isolateEmulatorThread: true } });
      const full = defaultVirtualMachineInstance(vmi, clusterConfig(kubevirt), options);
      return full.metadata?.annotations?.[parity];
    };
    expect(annotated(["AlignCPUs"])).toBe("");
    expect(annotated([])).toBeUndefined();
  });

  test("QEMU's user is used unless the gate Root is on", () => {
    const root = { developerConfiguration: { featureGates: ["Root"] } };
    expect(defaulted(vmiOf()).status?.runtimeUser).toBe(107);
    expect(defaulted(vmiOf(), root).status?.runtimeUser).toBe(0);
  });

  test("adds the finalizer after existing ones", () => {
    const vmi = { ...vmiOf(), metadata: { finalizers: ["a/b"] } };
    expect(defaulted(vmi).metadata?.finalizers).toEqual([
      "a/b",
      "kubevirt.io/foregroundDeleteVirtualMachine",
    ]);
  });
});

test("removes ambiguous zeros from addresses", () => {
  const { dnsConfig, networks, domain } = defaulted(
    vmiOf(
      { devices: { interfaces: [{ name: "n", dhcpOptions: { ntpServers: ["010.0.0.1", "x"] } }] } },
      {
        dnsConfig: { nameservers: ["008.8.8.8", "FE80::0001"] },
        networks: [{ name: "n", pod: { vmNetworkCIDR: "010.000.2.0/24" } }],
      },
    ),
  ).spec;
  expect(dnsConfig?.nameservers).toEqual(["8.8.8.8", "fe80::1"]);
  expect(networks?.[0]?.pod?.vmNetworkCIDR).toBe("10.0.2.0/24");
  expect(domain.devices.interfaces?.[0]?.dhcpOptions?.ntpServers).toEqual(["10.0.0.1", "x"]);
});
