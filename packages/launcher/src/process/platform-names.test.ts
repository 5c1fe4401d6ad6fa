import { admit, mutate } from "@virtkit/api/admission";
import { type ClusterConfig, clusterConfig } from "@virtkit/api/config";
import { type NamesOptions, names } from "@virtkit/api/names";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { convert, resolveContext, toXml, withHostDisks } from "@virtkit/converter";
import { planDisks } from "@virtkit/domain-manager/disks";
import { lookupIn, renderLauncherPod } from "@virtkit/launcher-pod";
import { describe, expect, test } from "vitest";
import { parseLauncherOptions } from "./launcher-options.ts";

const renamed: NamesOptions = {
  group: "vm.example.com",
  labelPrefix: "labels.example.com",
  annotationPrefix: "notes.example.com",
  ownPrefix: "own.example.com",
  directories: {
    share: "/run/vm",
    private: "/run/vm-private",
    ephemeralDisks: "/run/vm-ephemeral",
    hooks: "/run/vm-hooks",
    plugins: "/run/vm-plugins",
    imageVolumes: "/run/vm-images",
    kernelBoot: "/run/vm-kernel",
    libvirt: "/run/vm-libvirt",
  },
};

/** What is KubeVirt's by name and no name of a platform, and why. */
const known: readonly RegExp[] = [
  // The element that domains keep their own data in; those that run already have it.
  /<\/?kubevirt\b|xmlns="http:\/\/kubevirt\.io"/g,
  // What guests read about their maker: smbios of the cluster's configuration.
  /<entry name="(manufacturer|family)">KubeVirt</g,
  // A name of Istio's.
  /traffic\.sidecar\.istio\.io\/kubevirtInterfaces/g,
];

const diskNames = "root init config secret account scratch temporary data block".split(" ");

/** Of each kind of disk, device and annotation that has a name or a path of its own. */
function vmiFor(config: ClusterConfig): VirtualMachineInstance {
  const { annotations } = config.names;
  const claim = (name: string) => ({ name, persistentVolumeClaim: { claimName: name } });
  return {
    apiVersion: `${config.names.group}/v1`,
    kind: "VirtualMachineInstance",
    metadata: {
      name: "demo",
      namespace: "default",
      uid: "0d4c4a52-0001-4000-8000-000000000001",
      annotations: {
        [annotations.hookSidecars]: '[{ "image": "hook" }]',
        [annotations.ignitionData]: '{ "ignition": {} }',
        [annotations.placePciDevicesOnRootComplex]: "true",
        [annotations.disablePciHole64]: "true",
        [annotations.freePageReportingDisabled]: "true",
        [annotations.keepLauncherAfterFailure]: "true",
      },
    },
    spec: {
      domain: {
        memory: { guest: "1Gi", hugepages: { pageSize: "2Mi" } },
        firmware: {
          bootloader: { efi: { secureBoot: false, persistent: true } },
          kernelBoot: { container: { image: "boot", kernelPath: "/k", initrdPath: "/i" } },
        },
        devices: {
          tpm: { persistent: true },
          clientPassthrough: {},
          downwardMetrics: {},
          disks: [
            { name: "lun", lun: { bus: "scsi", reservation: true } },
            ...diskNames.map((name) => ({ name, disk: { bus: "virtio" as const } })),
          ],
          filesystems: [{ name: "shared", virtiofs: {} }],
          interfaces: [{ name: "default", masquerade: {} }],
        },
      },
      networks: [{ name: "default", pod: {} }],
      volumes: [
        { name: "root", containerDisk: { image: "root" } },
        { name: "init", cloudInitNoCloud: { userData: "#cloud-config" } },
        { name: "config", configMap: { name: "config" } },
        { name: "secret", secret: { secretName: "secret" } },
        { name: "account", serviceAccount: { serviceAccountName: "default" } },
        { name: "scratch", emptyDisk: { capacity: "1Gi" } },
        { name: "temporary", ephemeral: { persistentVolumeClaim: { claimName: "data" } } },
        claim("data"),
        claim("block"),
        claim("shared"),
        claim("lun"),
      ],
    },
  };
}

const featureGates = [
  "DownwardMetrics",
  "EnableVirtioFsStorageVolumes",
  "ExperimentalIgnitionSupport",
  "PersistentReservation",
  "Sidecar",
];

/** A VMI at each stage of its way, as text. */
function stages(options: NamesOptions): Readonly<Record<string, string>> {
  const config = clusterConfig(
    {
      developerConfiguration: { featureGates },
    },
    { names: names(options) },
  );
  const kind = "VirtualMachineInstance";
  const mutation = mutate({ kind, operation: "CREATE", object: vmiFor(config) }, config);
  if (!mutation.allowed) throw new Error(mutation.message);
  const defaulted = mutation.object as VirtualMachineInstance;
  const answer = admit({ kind, operation: "CREATE", object: defaulted }, config);
  const persistentVolumeClaims = ["data", "block", "shared", "lun", "state"].map((name) => ({
    metadata: {
      name,
      namespace: "default",
      ...(name === "state" && { labels: { "persistent-state-for": "demo" } }),
    },
    spec: { volumeMode: name === "block" ? "Block" : "Filesystem", accessModes: ["ReadWriteOnce"] },
  }));
  const pod = renderLauncherPod(defaulted, config, lookupIn({ persistentVolumeClaims }));
  const { command = [] } = pod.spec.containers.find(({ name }) => name === "compute") ?? {};
  const persistentVolumeClaimInfo = { volumeMode: "Filesystem", capacity: { storage: "1Gi" } };
  const volumeStatus = [{ name: "data", target: "", persistentVolumeClaimInfo }];
  const status = { ...defaulted.status, volumeStatus };
  const prepared = withHostDisks({ ...defaulted, status }, config.names);
  const context = resolveContext(prepared, {
    config,
    blockVolumes: ["block"],
    launcherLogVerbosity: "6",
  });
  // As the launcher reads it: over a channel that carries JSON.
  const sent = JSON.parse(JSON.stringify(context)) as typeof context;
  const line = command.slice(1).map((word) => word.replace("$(POD_UID)", "pod-1"));
  const launcher = parseLauncherOptions(line);
  const launcherNames = names(launcher.names);
  return {
    defaults: JSON.stringify(defaulted),
    admission: JSON.stringify(answer),
    pod: JSON.stringify(pod),
    domain: toXml(convert(prepared, sent)),
    launcher: JSON.stringify([launcher, launcherNames.directories, launcherNames.sockets]),
    disks: JSON.stringify(planDisks(prepared, { names: launcherNames }), (_, value: unknown) =>
      typeof value === "bigint" ? String(value) : value,
    ),
  };
}

describe("under another group, other prefixes and directories", () => {
  const found = stages(renamed);

  test.each(Object.keys(found))("leaves nothing of KubeVirt's names: %s", (stage) => {
    const text = known.reduce((rest, each) => rest.replace(each, ""), found[stage] ?? "");
    expect(text.match(/.{0,60}kubevirt.{0,60}/gi) ?? []).toEqual([]);
  });

  test("admits the VMI and understands its annotations", () => {
    expect(found["admission"]).toContain('"allowed":true');
    expect(found["domain"]).toContain("/run/vm-ephemeral/ignition-data/default/demo/data.ign");
    expect(found["domain"]).toContain('<pcihole64 unit="KiB">0</pcihole64>');
    expect(found["pod"]).toContain("--keep-after-failure");
  });

  test("the launcher has the directories of the domain and of the Pod's mounts", () => {
    for (const stage of ["pod", "domain", "launcher", "disks"]) {
      expect(found[stage], stage).toContain("/run/vm-private/");
    }
  });
});

test("by default the same stages have KubeVirt's names", () => {
  const found = stages({});
  for (const stage of ["defaults", "pod", "domain", "launcher", "disks"]) {
    expect(found[stage], stage).toMatch(/kubevirt\.io\/|\/var\/run\/kubevirt/);
  }
});
