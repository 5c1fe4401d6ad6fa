/** What the benchmarks watch. */
export const path = { group: "bench.example", version: "v1", plural: "vmilikes", kind: "VmiLike" };

/** Objects differ in what objects of one kind differ in, and share the rest. @param {number} index @param {number} version */
export function vmiLike(index, version) {
  const hash = (/** @type {string} */ salt) =>
    Array.from({ length: 4 }, (_, part) =>
      (((index + 1) * 2654435761 + salt.charCodeAt(0) * 40503 * (part + 7)) >>> 0)
        .toString(16)
        .padStart(8, "0"),
    ).join("");
  const uid = `${hash("u").slice(0, 8)}-4061-4607-8bf4-${hash("w").slice(0, 12)}`;
  const conditions = ["Ready", "LiveMigratable", "StorageLiveMigratable", "AgentConnected"];
  return {
    apiVersion: `${path.group}/${path.version}`,
    kind: path.kind,
    metadata: {
      name: `vm-${index}`,
      namespace: `tenant-${index % 100}`,
      uid,
      resourceVersion: String(version),
      generation: 8 + (version % 5),
      creationTimestamp: "2026-01-01T00:00:00Z",
      labels: {
        "kubevirt.io/nodeName": `node-${index % 50}.example.com`,
        "app.kubernetes.io/name": `database-${index % 20}`,
        "vm.kubevirt.io/name": `vm-${index}`,
      },
      annotations: {
        "kubevirt.io/latest-observed-api-version": "v1",
        "kubevirt.io/storage-observed-api-version": "v1",
        "vm.kubevirt.io/flavor": "small",
      },
      finalizers: [
        "kubevirt.io/virtualMachineControllerFinalize",
        "foregroundDeleteVirtualMachine",
      ],
      ownerReferences: [
        { apiVersion: "kubevirt.io/v1", kind: "VirtualMachine", name: `vm-${index}`, uid },
      ],
      managedFields: [
        {
          manager: "virt-controller",
          operation: "Update",
          apiVersion: "kubevirt.io/v1",
          fieldsType: "FieldsV1",
          fieldsV1: { "f:metadata": { "f:labels": { ".": {}, "f:kubevirt.io/nodeName": {} } } },
        },
      ],
    },
    spec: {
      architecture: "amd64",
      domain: {
        cpu: { cores: 2, sockets: 1, threads: 1, model: "host-model", maxSockets: 4 },
        firmware: { uuid: hash("f"), serial: hash("s").slice(0, 12) },
        machine: { type: "pc-q35-rhel9.4.0" },
        memory: { guest: "4Gi", maxGuest: "16Gi" },
        resources: { requests: { memory: "4Gi", cpu: "200m" } },
        features: { acpi: { enabled: true }, smm: { enabled: true } },
        devices: {
          disks: [
            { name: "rootdisk", bootOrder: 1, disk: { bus: "virtio" }, cache: "none" },
            { name: "cloudinitdisk", disk: { bus: "virtio" } },
          ],
          interfaces: [
            {
              name: "default",
              masquerade: {},
              macAddress: `02:${(hash("m").match(/../g) ?? []).slice(0, 5).join(":")}`,
              model: "virtio",
            },
          ],
          rng: {},
        },
      },
      evictionStrategy: "LiveMigrate",
      networks: [{ name: "default", pod: {} }],
      terminationGracePeriodSeconds: 180,
      volumes: [
        { name: "rootdisk", dataVolume: { name: `vm-${index}-rootdisk` } },
        {
          name: "cloudinitdisk",
          cloudInitNoCloud: { secretRef: { name: `vm-${index}-cloud-init` } },
        },
      ],
    },
    status: {
      phase: "Running",
      nodeName: `node-${index % 50}.example.com`,
      activePods: {
        [`${uid.slice(0, 24)}${version % 7}00000000000`]: `node-${index % 50}.example.com`,
      },
      conditions: conditions.map((type) => ({
        type,
        status: "True",
        lastProbeTime: null,
        lastTransitionTime: `2026-01-0${1 + (version % 9)}T00:00:0${index % 10}Z`,
      })),
      interfaces: [
        {
          name: "default",
          ipAddress: `10.244.${index % 250}.${version % 250}`,
          ipAddresses: [`10.244.${index % 250}.${version % 250}`],
          mac: `02:${(hash("m").match(/../g) ?? []).slice(0, 5).join(":")}`,
          infoSource: "domain, guest-agent",
        },
      ],
      guestOSInfo: {
        id: "fedora",
        name: "Fedora Linux",
        prettyName: "Fedora Linux 42 (Cloud Edition)",
        kernelRelease: "6.14.0-63.fc42.x86_64",
      },
      launcherContainerImageVersion:
        "registry.example/kubevirt/virt-launcher@sha256:0123456789abcdef",
      phaseTransitionTimestamps: ["Pending", "Scheduling", "Scheduled", "Running"].map((phase) => ({
        phase,
        phaseTransitionTimestamp: `2026-01-01T00:0${index % 10}:1${version % 10}Z`,
      })),
      qosClass: "Burstable",
      runtimeUser: 107,
      virtualMachineRevisionName: `revision-start-vm-${uid}-2`,
    },
  };
}
