/** The input and the context of a request to one function of `virtkit batch`. */
export interface SampleRequest {
  readonly input: unknown;
  readonly context?: unknown;
}

const uid = "5d307ca9-b3ef-428c-8861-06e72d69f223";

const metadata = {
  name: "vm",
  namespace: "ns",
  uid,
  labels: { tier: "web" },
  annotations: { "example.com/a": "1" },
};

const interfaces = [
  { name: "default", masquerade: {} },
  { name: "red", binding: { name: "plugin" }, macAddress: "02:00:00:00:00:01" },
];

const networks = [
  { name: "default", pod: {} },
  { name: "red", multus: { networkName: "red" } },
];

const volumes = [
  { name: "root", containerDisk: { image: "example.com/disk:1" } },
  { name: "data", persistentVolumeClaim: { claimName: "data", hotpluggable: true } },
  { name: "init", cloudInitNoCloud: { userData: "#cloud-config" } },
];

const domain = {
  cpu: { sockets: 1, cores: 2, threads: 1 },
  memory: { guest: "1Gi", maxGuest: "2Gi" },
  resources: { requests: { memory: "1Gi", cpu: "1" }, limits: { memory: "2Gi" } },
  firmware: { uuid: uid },
  devices: {
    disks: volumes.map(({ name }) => ({ name, disk: { bus: "virtio" } })),
    interfaces,
    gpus: [{ name: "gpu", deviceName: "example.com/gpu" }],
    rng: {},
  },
};

const spec = { architecture: "amd64", evictionStrategy: "LiveMigrate", domain, networks, volumes };

const vmi = {
  apiVersion: "kubevirt.io/v1",
  kind: "VirtualMachineInstance",
  metadata,
  spec,
  status: {
    phase: "Running",
    nodeName: "n1",
    evacuationNodeName: "n1",
    migrationMethod: "BlockMigration",
    selinuxContext: "none",
    conditions: [{ type: "LiveMigratable", status: "True" }],
    interfaces: [{ name: "default", podInterfaceName: "eth0" }],
    activePods: { "pod-uid": "n1" },
    volumeStatus: [{ name: "data", target: "sda", hotplugVolume: {} }],
    migratedVolumes: [
      {
        volumeName: "data",
        sourcePVCInfo: { capacity: { storage: "1Gi" }, requests: { storage: "1Gi" } },
      },
    ],
  },
};

/** Without devices that a plugin would have to assign. */
const plain = {
  ...vmi,
  spec: {
    ...spec,
    domain: { ...domain, devices: { ...domain.devices, gpus: [], interfaces: [] } },
  },
};

const vm = {
  apiVersion: "kubevirt.io/v1",
  kind: "VirtualMachine",
  metadata,
  spec: {
    runStrategy: "Always",
    instancetype: { name: "small", kind: "VirtualMachineInstancetype" },
    preference: { name: "any", inferFromVolume: "data" },
    dataVolumeTemplates: [{ metadata: { name: "data" }, spec: { storage: {} } }],
    template: { metadata: { labels: { tier: "web" } }, spec },
  },
  status: {
    created: true,
    ready: true,
    conditions: [{ type: "Ready", status: "True" }],
    startFailure: { consecutiveFailCount: 1, retryAfterTimestamp: "2020-01-01T00:00:00Z" },
    stateChangeRequests: [{ action: "Stop", uid }],
  },
};

const pod = {
  metadata: {
    ...metadata,
    name: "virt-launcher-vm",
    labels: { "kubevirt.io": "virt-launcher" },
    annotations: {
      "kubevirt.io/domain": "vm",
      "k8s.v1.cni.cncf.io/network-status": '[{"name":"ns/red","interface":"net1"}]',
    },
    ownerReferences: [{ apiVersion: "v1", kind: "V", name: "vm", uid, controller: true }],
  },
  spec: {
    nodeSelector: { zone: "a" },
    securityContext: { seLinuxOptions: { type: "t", level: "s0" } },
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "zone" }],
      },
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: "a", operator: "Exists" }] }],
        },
      },
    },
    containers: [{ name: "compute", image: "example.com/launcher:1" }],
    volumes: [{ name: "root", emptyDir: {} }],
  },
  status: {
    phase: "Pending",
    conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable" }],
  },
};

/** On its way from another cluster. */
const moving = { metadata, status: { migrationState: { sourceState: { node: "n1" } } } };

const node = {
  metadata: { name: "n1", labels: { "host-model-cpu.node.kubevirt.io/Skylake": "true" } },
  spec: { taints: [{ key: "kubevirt.io/drain", effect: "NoSchedule" }] },
};

const migration = {
  metadata: {
    name: "m",
    namespace: "ns",
    annotations: { "kubevirt.io/migrationPendingPodTimeoutSeconds": "60" },
    labels: { "kubevirt.io/vmi-name": "vm" },
  },
  spec: { vmiName: "vm", priority: "system-critical", addedNodeSelector: { zone: "b" } },
  status: { phase: "Running" },
};

const policy = {
  metadata: { name: "p" },
  spec: {
    allowPostCopy: true,
    bandwidthPerMigration: "64Mi",
    selectors: { virtualMachineInstanceSelector: { tier: "web" }, namespaceSelector: { a: "1" } },
  },
};

const claim = {
  metadata: { name: "data", namespace: "ns", labels: { a: "1" } },
  spec: { accessModes: ["ReadWriteMany"], volumeMode: "Block" },
  status: { phase: "Bound", capacity: { storage: "1Gi" } },
};

const configuration = {
  developerConfiguration: { featureGates: ["HotplugVolumes"] },
  network: { binding: { plugin: { sidecarImage: "example.com/plugin:1" } } },
};

const cluster = {
  kubevirt: {
    configuration,
    annotations: { a: "1" },
    defaultArchitecture: "amd64",
    cpuArch: "amd64",
  },
  now: "2026-01-01T00:00:00Z",
};

const context = {
  ...cluster,
  username: "someone",
  userExtra: { groups: ["a"] },
  dryRun: false,
  objects: {
    pods: [pod],
    virtualMachineInstances: [vmi],
    virtualMachineInstanceMigrations: [migration],
    persistentVolumeClaims: [claim],
  },
};

const objects = {
  nodes: [{ ...node, kind: "Node" }],
  pods: [pod],
  virtualMachineInstances: [vmi],
  persistentVolumeClaims: [claim],
};

const observed = {
  "kubevirt.io/latest-observed-api-version": "v1",
  "kubevirt.io/storage-observed-api-version": "v1",
};

const owner = { apiVersion: "v1", kind: "VirtualMachine", name: "vm", uid, controller: true };

const machines = {
  virtualMachines: [
    {
      ...vm,
      metadata: { ...metadata, generation: 2, annotations: observed },
      spec: {
        ...vm.spec,
        instancetype: { name: "small" },
        preference: { name: "any", kind: "VirtualMachinePreference" },
        template: {
          metadata: { labels: { tier: "web" } },
          spec: { ...spec, domain: { devices: {} } },
        },
      },
      status: {
        conditions: [{ type: "Ready", status: "True" }],
        volumeRequests: [{ removeVolumeOptions: { name: "data" } }],
        memoryDumpRequest: { claimName: "data", phase: "Failed" },
      },
    },
  ],
  virtualMachineInstances: [
    { ...vmi, metadata: { ...metadata, uid: "vmi-uid", ownerReferences: [owner] } },
  ],
  dataVolumes: [{ metadata: { name: "data", namespace: "ns" }, status: { phase: "Succeeded" } }],
  persistentVolumeClaims: [claim],
  controllerRevisions: [
    {
      metadata: {
        name: `revision-start-vm-${uid}-1`,
        namespace: "ns",
        uid: "revision-uid",
        ownerReferences: [owner],
      },
      data: { spec: vm.spec },
      revision: 1,
    },
  ],
  virtualMachineClusterInstancetypes: [
    {
      metadata: { name: "small", uid: "s" },
      spec: { cpu: { guest: 2 }, memory: { guest: "1Gi" } },
    },
  ],
  virtualMachinePreferences: [
    { metadata: { name: "any", namespace: "ns", uid: "a" }, spec: { devices: {} } },
  ],
  namespaces: [{ metadata: { name: "ns", labels: { a: "1" } } }],
};

const poolOwner = { ...owner, kind: "VirtualMachinePool", name: "pool", uid: "pool-uid" };

const pools = {
  virtualMachinePools: [
    {
      metadata: { name: "pool", namespace: "ns", uid: "pool-uid", generation: 2 },
      spec: {
        replicas: 1,
        selector: { matchLabels: { tier: "web" } },
        virtualMachineTemplate: { metadata: { labels: { tier: "web" } }, spec: vm.spec },
        nameGeneration: { appendIndexToSecretRefs: true },
        autohealing: { startUpFailureThreshold: 5, minFailingToStartDuration: "5m0s" },
        scaleInStrategy: { proactive: { statePreservation: "Offline" } },
        updateStrategy: { proactive: { selectionPolicy: { sortPolicy: "Oldest" } } },
      },
      status: { replicas: 1, conditions: [{ type: "ReplicaPaused", status: "True" }] },
    },
  ],
  virtualMachines: [
    {
      ...vm,
      metadata: {
        ...metadata,
        name: "pool-0",
        labels: { tier: "web", "kubevirt.io/vm-pool-revision-name": "pool-1" },
        ownerReferences: [poolOwner],
      },
    },
  ],
  virtualMachineInstances: [{ ...vmi, metadata: { ...metadata, name: "pool-0" } }],
  controllerRevisions: [
    {
      metadata: { name: "pool-1", namespace: "ns", uid: "r", ownerReferences: [poolOwner] },
      data: { virtualMachineTemplate: { metadata: {}, spec: vm.spec } },
    },
  ],
};

const evacuated = {
  ...objects,
  virtualMachineInstanceMigrations: [{ ...migration, spec: { vmiName: "other" } }],
  kubevirts: [
    {
      metadata: { name: "kubevirt", namespace: "kubevirt" },
      spec: {
        workloadUpdateStrategy: {
          workloadUpdateMethods: ["LiveMigrate", "Evict"],
          batchEvictionSize: 2,
          batchEvictionInterval: "1m0s",
        },
      },
      status: { phase: "Deployed", observedDeploymentID: "a", targetDeploymentID: "a" },
    },
  ],
};

const migratingVmi = {
  ...plain,
  metadata: {
    ...metadata,
    labels: { "kubevirt.io/migrationTargetNodeName": "node02" },
  },
  status: {
    phase: "Running",
    nodeName: "node01",
    migrationState: { migrationUid: "mig-uid", sourceNode: "node01", targetNode: "node02" },
  },
};

const moved = {
  ...objects,
  virtualMachineInstances: [
    { ...vmi, status: { ...vmi.status, migrationState: { migrationUid: "mig-uid" } } },
  ],
  virtualMachineInstanceMigrations: [
    {
      metadata: { namespace: "ns", name: "mig", uid: "mig-uid", annotations: observed },
      spec: { vmiName: "vm" },
      status: { phase: "Pending", conditions: [], migrationState: { sourcePod: "p" } },
    },
  ],
  namespaces: [{ metadata: { name: "ns", labels: { tier: "web" } } }],
};

const replicas = {
  virtualMachineInstances: [vmi, { metadata: { ...metadata, name: "spare" }, spec: {} }],
  virtualMachineInstanceReplicaSets: [
    {
      metadata: {
        name: "set",
        namespace: "ns",
        uid: "set-uid",
        annotations: observed,
      },
      spec: {
        replicas: 1,
        selector: {
          matchLabels: { tier: "web" },
          matchExpressions: [{ key: "tier", operator: "In", values: ["web"] }],
        },
        template: { metadata: { labels: { tier: "web" } }, spec },
      },
      status: { replicas: 1, conditions: [{ type: "ReplicaPaused", status: "True" }] },
    },
  ],
};

const lists = {
  configuration,
  dataVolumes: [{ metadata: { name: "data", namespace: "ns" }, status: { phase: "Succeeded" } }],
  persistentVolumeClaims: [claim],
  preferences: [{ metadata: { name: "any", namespace: "ns" }, spec: { cpu: {} } }],
  clusterPreferences: [{ metadata: { name: "any" }, spec: { cpu: {} } }],
  dataSources: [claim],
  volumeSnapshots: [claim],
};

const admission = {
  kind: "VirtualMachineInstance",
  operation: "CREATE",
  namespace: "ns",
  name: "vm",
  object: vmi,
};

const rule = { type: "b", major: 8, minor: 1, permissions: "rwm", allow: true };

const mount = {
  Major: 8,
  Minor: 1,
  Root: "/",
  Mountpoint: "/mnt",
  FSType: "ext4",
  Source: "/dev/sda1",
};

const instancetype = {
  vmiSpec: { domain: { devices: {} } },
  vmiMetadata: { annotations: { a: "1" } },
  instancetypeSpec: { cpu: { guest: 4 }, memory: { guest: "1Gi" }, annotations: { b: "2" } },
  preferenceSpec: {
    cpu: { preferredCPUTopology: "spread", spreadOptions: { across: "SocketsCores", ratio: 2 } },
    devices: { preferredDiskBus: "virtio" },
    requirements: { cpu: { guest: 2 }, memory: { guest: "1Gi" } },
  },
};

const quantity = { a: "1Gi", b: "500m", factor: "3", scale: 3, value: "7", format: "BinarySI" };

const dhcp4 = {
  clientMAC: "02:00:00:00:00:01",
  clientIP: "10.0.2.2/24",
  serverIP: "10.0.2.1",
  routerIP: "10.0.2.1",
  nameservers: ["10.96.0.10"],
  searchDomains: ["svc.cluster.local"],
  mtu: 1450,
  hostname: "vm",
  routes: [{ dst: "10.244.0.0/16", gw: "10.0.2.1" }],
  dhcpOptions: { ntpServers: ["192.0.2.1"], privateOptions: [{ option: 230, value: "x" }] },
};

/** A DISCOVER: op, type, length of the address, id and broadcast flag, then the client's address. */
const discover = `0101060000000001${"00".repeat(20)}020000000001${"00".repeat(202)}63825363350101ff`;

const masquerade = {
  network: { name: "default", pod: {} },
  interface: { name: "default", masquerade: {} },
  podInterfaceName: "eth0",
  mtu: 1450,
  hasIPv4GlobalUnicast: true,
  hasIPv6GlobalUnicast: true,
};

const wiring = {
  vmi: {
    metadata: { name: "vm", uid },
    spec: {
      domain: { devices: { interfaces: [{ name: "default", masquerade: {} }] } },
      networks: [{ name: "default", pod: {} }],
    },
  },
  flow: "startup",
  launcherPID: 7,
  links: [
    {
      name: "eth0",
      index: 2,
      type: "veth",
      mac: "0a:58:0a:f4:01:05",
      mtu: 1450,
      state: "up",
      addresses: ["10.244.1.5/24"],
    },
  ],
  routes: [{ gw: "10.244.1.1", dev: "eth0" }],
};

const launcherOptions = {
  Bandwidth: "64Mi",
  ProgressTimeout: 150,
  CompletionTimeoutPerGiB: 150,
  MaxDowntimeMs: 300,
  UnsafeMigration: false,
  AllowAutoConverge: true,
  AllowPostCopy: true,
  AllowWorkloadDisruption: true,
  ParallelMigrationThreads: 8,
  Compression: "zstd",
};

const stallDetector = {
  StallMargin: 0.05,
  StallProgressTimeout: 10,
  SwitchoverTimeout: 30,
  EwmaAlpha: 0.5,
  PrecopyPossibleFactor: 2,
  PatienceWindowDecayFactor: 0.5,
  SearchLocalMinima: true,
  CompletionTimeoutFactor: 1.5,
};

/** On its way to another node. */
const leaving = {
  ...vmi,
  status: {
    ...vmi.status,
    nodeName: "node01",
    migrationState: {
      migrationUid: "m1",
      sourceNode: "node01",
      targetNode: "node02",
      targetNodeAddress: "192.0.2.2",
      targetDirectMigrationNodePorts: { 40001: 0, 40002: 49152 },
      migrationConfiguration: { bandwidthPerMigration: "64Mi", allowPostCopy: true },
    },
  },
};

const leavingDomain = {
  status: "Running",
  migration: { UID: "m1", StartTimestamp: "2020-01-01T00:00:00Z", Mode: "PreCopy" },
};

const domainXML = `<domain type="kvm"><name>ns_vm</name><uuid>${uid}</uuid><devices><disk type="file" device="disk"><source file="/x"/><target dev="vda" bus="virtio"/><alias name="ua-root"/></disk></devices></domain>`;

const calls = (
  area: string,
  request: SampleRequest,
  functions: readonly string[],
): [string, SampleRequest][] => functions.map((name) => [`${area}/${name}`, request]);

const handlerPass: SampleRequest = {
  input: {
    vmi: {
      metadata: { ...metadata, labels: { "kubevirt.io/nodeName": "node01" } },
      spec: {
        domain: { devices: { disks: [{ name: "i", disk: {} }] } },
        volumes: [{ name: "i", configMap: { name: "c" } }],
      },
      status: {
        phase: "Running",
        nodeName: "node01",
        conditions: [{ type: "Ready", status: "True" }],
        volumeStatus: [{ name: "i", target: "vda" }],
      },
    },
    domain: {
      status: "Running",
      reason: "Unknown",
      metadata: { gracePeriod: { deletionGracePeriodSeconds: 30 } },
      disks: [{ alias: "i", target: "vda", file: "/x" }],
      channels: [{ name: "org.qemu.guest_agent.0", state: "connected" }],
    },
  },
  context: {
    now: "2030-01-01T12:00:00Z",
    configuration: {},
    launcher: { guestInfo: { guestAgentVersion: "8.2" } },
  },
};

const measured = {
  vmi,
  domainStats: {
    Cpu: { TimeSet: true, Time: 5 },
    Vcpu: [{ StateSet: true, State: 1, TimeSet: true, Time: 5 }],
    Net: [{ NameSet: true, Name: "tap0", RxBytesSet: true, RxBytes: 1 }],
    Block: [{ NameSet: true, Name: "vda", RdReqsSet: true, RdReqs: 1 }],
  },
  filesystems: { items: [{ diskName: "vda1", mountPoint: "/", usedBytes: 1, totalBytes: 2 }] },
};

const nodeRequest: SampleRequest = {
  input: {
    method: "PUT",
    path: "/v1/namespaces/ns/virtualmachineinstances/vm/freeze",
    vmi: { ...vmi, status: { ...vmi.status, activePods: { p1: "n1" } } },
    body: '{"unfreezeTimeout":"5m0s"}',
  },
  context: { launcher: { answer: "", versions: [1] } },
};

/** One well-formed request for every function of `virtkit batch`, by `area/function`. */
export const sampleRequests: Readonly<Record<string, SampleRequest>> = Object.fromEntries([
  ...calls("admission", { input: admission, context }, ["admit"]),
  ...calls("defaulting", { input: admission, context }, ["mutate"]),
  ...calls("dhcp", { input: dhcp4 }, ["dhcp4-options"]),
  ...calls("dhcp", { input: { ...dhcp4, request: discover, from: "0.0.0.0:68" } }, ["dhcp4-reply"]),
  ...calls(
    "dhcp",
    {
      input: {
        clientIP: "fd10:0:2::2",
        serverMAC: "02:00:00:00:00:00",
        nameservers: ["fd00::10"],
        request: "01abcdef0001000a000300010200000000010003000c010203040000000000000000",
      },
    },
    ["dhcp6-reply"],
  ),
  ...calls("dhcp", { input: { content: "search svc.cluster.local\n", subdomain: "sub" } }, [
    "resolv-conf",
  ]),
  ...calls("dhcp", { input: masquerade }, ["dhcp-config-masquerade"]),
  ...calls("network-wiring", { input: wiring, context: { handlerPodIP: "10.244.0.1" } }, ["wire"]),
  ...calls(
    "cloud-init",
    {
      input: { vmi, dataSource: "noCloud", userData: "#cloud-config", networkData: "version: 2" },
      context: { secretFiles: { "init/userdata": "#cloud-config" }, devices: [] },
    },
    ["files", "generate"],
  ),
  ...calls("converter", { input: { vmi: plain }, context: { environment: {} } }, [
    "convert",
    "launcher",
  ]),
  ...calls("converter", { input: { vmiYaml: JSON.stringify(plain) } }, ["domain"]),
  ...calls(
    "launcher-pod",
    {
      input: {
        vmi,
        migration,
        sourcePod: pod,
        ownerPod: pod,
        volumes: [volumes[1]],
        claims: { data: claim },
        pvcName: "data",
        isBlock: true,
        tempPod: false,
      },
      context,
    },
    [
      "memoryOverhead",
      "renderHotplugAttachmentPod",
      "renderHotplugAttachmentTriggerPod",
      "renderLaunchManifest",
      "renderLaunchManifestNoVm",
      "renderMigrationManifest",
    ],
  ),
  ...calls(
    "migration-source",
    {
      input: {
        vmi: leaving,
        options: launcherOptions,
        hostCpuModel: "Skylake",
        blockMigration: true,
        paused: false,
        domainXML,
        libvirtHooks: false,
        diskVirtualSizes: { data: 1024 },
        ephemeralDiskFileSizes: [1000],
        mode: "PreCopy",
        elapsedSeconds: 301,
        secondsSinceProgress: 0,
        abortStatus: "Failed",
        failed: true,
        reason: "some reason",
        host: "node01",
        domain: leavingDomain,
      },
      context: cluster,
    },
    [
      "classify-volumes",
      "completion-time",
      "handler-migrate",
      "legacy-convergence",
      "live-migratable",
      "migration-flags",
      "migration-params",
      "migration-result",
      "source-status",
      "start-migration-refused",
    ],
  ),
  ...calls(
    "migration-source",
    {
      input: {
        stallDetector,
        maxDowntimeMs: 300,
        allowPostCopy: false,
        allowWorkloadDisruption: true,
        hasVFIO: false,
        acceptableCompletionSeconds: 150,
        elapsedSeconds: 10,
        steps: [{ bandwidth: 1000 }, { elapsedMs: 1000, remainingBytes: 1000 }],
      },
    },
    ["stall-detector"],
  ),
  ...calls("migration", { input: { vmi }, context: cluster }, ["evictionDecision"]),
  ...calls("migration", { input: { priority: 100 } }, ["requeueDelay"]),
  ...calls("migration", { input: { migration, pod } }, ["pendingPodTimeouts", "priority"]),
  ...calls("migration", { input: { vmi: moving, pod } }, [
    "decentralizedAntiAffinity",
    "targetPodAntiAffinity",
  ]),
  ...calls("migration", { input: { pod, selinuxContext: "system_u:object_r:t:s0:c1,c2" } }, [
    "targetPodSELinux",
  ]),
  ...calls("migration", { input: { node, sourceNodeSelector: { zone: "a" } } }, [
    "hostModelNodeSelector",
  ]),
  ...calls(
    "migration",
    { input: { vmi, elapsedSeconds: [1, 1000], ephemeralDisksBytes: 1000 }, context: cluster },
    ["completionTimeout"],
  ),
  ...calls(
    "migration",
    {
      input: {
        vmi: { metadata },
        namespace: { metadata: { name: "ns", labels: { a: "1" } } },
        policies: [policy],
      },
      context: cluster,
    },
    ["resolveMigrationConfig"],
  ),
  ...calls(
    "migration",
    {
      input: {
        node,
        vmis: [{ metadata, status: vmi.status }],
        migrations: [migration],
        pods: [pod],
      },
      context: cluster,
    },
    ["evacuationSelect"],
  ),
  ...calls("migration", { input: { object: policy, oldObject: policy }, context: cluster }, [
    "migrationPolicyAdmission",
  ]),
  ...calls("migration", { input: { namespace: "ns", name: "virt-launcher-vm" }, context }, [
    "podEviction",
  ]),
  ...calls("host", { input: {}, context: { cgroupVersion: "v2" } }, [
    "cgroup-default-rules",
    "seccomp-profile",
  ]),
  ...calls("host", { input: { path: "/a.scope/container" } }, ["cgroup-manager-path"]),
  ...calls("host", { input: { content: "sev 4", key: "sev" } }, ["cgroup-misc-capacity"]),
  ...calls("host", { input: { current: [rule], request: [rule] } }, ["cgroup-v1-set"]),
  ...calls(
    "host",
    { input: { dir: "/a.scope/container", vmiRules: [rule], sets: [[rule], [rule]] } },
    ["cgroup-v2-set"],
  ),
  ...calls(
    "host",
    {
      input: {
        vmi,
        files: {
          "/dev/kvm": { type: "char", major: 10, minor: 232 },
          "/dev/data": { type: "block", major: 8, minor: 1 },
        },
        host: "n1",
        hypervisorDevice: "kvm",
        allowEmulation: false,
      },
      context: { cgroupVersion: "v2" },
    },
    ["cgroup-vmi-rules"],
  ),
  ...calls("host", { input: { vmi, config: configuration }, context: cluster }, ["memlock-size"]),
  ...calls("host", { input: { output: "Enforcing" } }, ["selinux-present"]),
  ...calls(
    "host",
    {
      input: {
        child: mount,
        candidate: mount,
        source: "/dev/sda1",
        podUID: uid,
        kubeletPodsDir: "/var/lib/kubelet/pods",
      },
    },
    ["mounts-filter"],
  ),
  ...calls("quantity", { input: quantity }, [
    "add",
    "cmp",
    "mul",
    "neg",
    "newMilliQuantity",
    "newQuantity",
    "newScaledQuantity",
    "roundUp",
    "scaledValue",
    "sub",
  ]),
  ...calls("quantity", { input: { text: "1Gi", json: '"1Gi"' } }, ["parse", "unmarshalJSON"]),
  ...calls("node-controller", { input: { key: "n1", objects }, context: cluster }, ["reconcile"]),
  ...calls("vm-controller", { input: { key: "ns/vm", objects: machines }, context: cluster }, [
    "reconcile",
  ]),
  ...calls("pool", { input: { key: "ns/pool", objects: pools }, context: cluster }, ["reconcile"]),
  ...calls("handler", handlerPass, ["handler-pass"]),
  ...calls(
    "handler-migration",
    { input: { vmi: migratingVmi, domain: { status: "Running", reason: "" } }, context: cluster },
    ["source-pass", "target-pass"],
  ),
  ...calls("domain-stats", { input: measured }, ["domain-metrics"]),
  ...calls("guest-agent", { input: { reply: '{"return":[]}' } }, ["agent-filesystems"]),
  ...calls("guest-agent", { input: { reply: '{"return":"frozen"}' } }, ["agent-fsfreeze"]),
  ...calls("guest-agent", { input: { reply: '{"return":{"version":"8"}}' } }, ["agent-info"]),
  ...calls("handler-rest", nodeRequest, ["node-request"]),
  ...calls("evacuation", { input: { key: "n1", objects: evacuated }, context: cluster }, [
    "reconcile",
  ]),
  ...calls("migration-controller", { input: { key: "ns/mig", objects: moved }, context: cluster }, [
    "reconcile",
  ]),
  ...calls(
    "workload-updater",
    { input: { key: "kubevirt/kubevirt", objects: evacuated }, context: cluster },
    ["reconcile"],
  ),
  ...calls("replicaset", { input: { key: "ns/set", objects: replicas }, context: cluster }, [
    "reconcile",
  ]),
  ...calls("vmi-controller", { input: { key: "ns/vm", objects }, context: cluster }, ["reconcile"]),
  ...calls("network", { input: { vm, vmi, pod, networks }, context: cluster }, [
    "defaultNetwork",
    "migrationRequired",
    "nameScheme",
    "podAnnotations",
    "podAnnotationsFromActivePod",
    "podAnnotationsFromSource",
    "restartRequired",
    "updateVMIStatus",
    "vmSync",
  ]),
  ...calls("instancetype", { input: instancetype, context: lists }, [
    "applyToVMI",
    "checkRequirements",
    "checkSpreadTopology",
  ]),
  ...calls("instancetype", { input: { vm, oldVm: vm }, context: lists }, [
    "matcherAnnotations",
    "mutateVM",
  ]),
  ...calls(
    "subresources",
    {
      input: {
        method: "PUT",
        path: "/apis/subresources.kubevirt.io/v1/namespaces/ns/virtualmachines/vm/start",
        headers: { "X-Remote-User": ["alice"], "X-Remote-Group": ["devs"] },
        authenticated: true,
      },
      context: { accessAllowed: true },
    },
    ["subresource-authorize"],
  ),
  ...calls(
    "subresources",
    {
      input: {
        method: "PUT",
        path: "/apis/subresources.kubevirt.io/v1/namespaces/ns/virtualmachines/vm/addvolume",
        vm,
        vmi,
        body: '{"name":"v","disk":{"disk":{}},"volumeSource":{"dataVolume":{"name":"v"}}}',
        headers: { "Content-Type": ["application/json"] },
      },
      context: { ...lists, handler: { code: 200, body: "{}" }, patchError: "other" },
    },
    ["subresource-request"],
  ),
  ...calls("vm-status", { input: { vm, vmi, lastSeenSpec: vm.spec }, context: lists }, [
    "printableStatus",
    "restartRequired",
    "runStrategy",
    "startFailure",
    "updateStatus",
  ]),
  ...calls("vm-status", { input: { failCount: 2, maxDelaySeconds: 300 } }, ["startBackoff"]),
  ...calls("vm-status", { input: { verb: "restart", vm, vmi, body: "{}" } }, ["subresource"]),
]);
