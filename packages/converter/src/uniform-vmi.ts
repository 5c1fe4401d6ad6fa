import type {
  CPU,
  Devices,
  Disk,
  DomainSpec,
  Features,
  Firmware,
  Interface,
  Memory,
  VirtualMachineInstance,
  VirtualMachineInstanceSpec,
  Volume,
} from "@virtkit/api/schema";

/*
 * A VMI sets only what differs from the defaults, so hardly two have objects with the same properties. The
 * engine is fast with objects of one shape; with a hundred shapes it searches each object for each property,
 * present or not. So the parts of a VMI that differ most are copied once into objects that have all properties
 * of their type, most of them `undefined`.
 */

/** The properties of a type, all present and without a value. */
type Blank<T> = { [K in keyof T]-?: undefined };

/** An object of a type, with properties that may be present and `undefined`. */
type Filled<T> = { [K in keyof T]: T[K] | undefined };

/** An equal VMI, in objects of one shape each. What is not an object stays as it is. */
export function uniformVmi(vmi: VirtualMachineInstance): VirtualMachineInstance {
  if (!isObject(vmi) || !isObject(vmi.spec)) return vmi;
  const { apiVersion, kind, metadata, status } = vmi;
  const spec = filled(blankSpec(), vmi.spec);
  spec.domain = domainInShape(spec.domain);
  spec.volumes = listInShape(blankVolume, spec.volumes);
  return { apiVersion, kind, metadata, spec, status } as VirtualMachineInstance;
}

function domainInShape(source: DomainSpec | undefined): DomainSpec | undefined {
  if (!isObject(source)) return source;
  const domain = filled(blankDomain(), source);
  domain.cpu = inShape(blankCpu, domain.cpu);
  domain.devices = devicesInShape(domain.devices);
  domain.features = inShape(blankFeatures, domain.features);
  domain.firmware = inShape(blankFirmware, domain.firmware);
  domain.memory = inShape(blankMemory, domain.memory);
  return domain as DomainSpec;
}

function devicesInShape(source: Devices | undefined): Devices | undefined {
  if (!isObject(source)) return source;
  const devices = filled(blankDevices(), source);
  devices.disks = listInShape(blankDisk, devices.disks);
  devices.interfaces = listInShape(blankInterface, devices.interfaces);
  return devices as Devices;
}

function listInShape<T>(blank: () => Blank<T>, list: T[] | undefined): T[] | undefined {
  return Array.isArray(list) ? list.map((item) => inShape(blank, item) as T) : list;
}

function inShape<T>(blank: () => Blank<T>, source: T | undefined): T | undefined {
  return isObject(source) ? (filled(blank(), source) as T) : source;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Walks what is present, which is less than what is possible. */
function filled<T>(blank: Blank<T>, source: T): Filled<T> {
  const copy: Filled<T> = blank;
  for (const key in source) {
    if (key !== "__proto__") copy[key] = source[key];
  }
  return copy;
}

const blankSpec = (): Blank<VirtualMachineInstanceSpec> => ({
  accessCredentials: undefined,
  affinity: undefined,
  architecture: undefined,
  dnsConfig: undefined,
  dnsPolicy: undefined,
  domain: undefined,
  evictionStrategy: undefined,
  hostname: undefined,
  livenessProbe: undefined,
  networks: undefined,
  nodeSelector: undefined,
  priorityClassName: undefined,
  readinessProbe: undefined,
  resourceClaims: undefined,
  schedulerName: undefined,
  serviceAccountName: undefined,
  startStrategy: undefined,
  subdomain: undefined,
  terminationGracePeriodSeconds: undefined,
  tolerations: undefined,
  topologySpreadConstraints: undefined,
  utilityVolumes: undefined,
  volumes: undefined,
});

const blankDomain = (): Blank<DomainSpec> => ({
  chassis: undefined,
  clock: undefined,
  cpu: undefined,
  devices: undefined,
  features: undefined,
  firmware: undefined,
  ioThreads: undefined,
  ioThreadsPolicy: undefined,
  launchSecurity: undefined,
  machine: undefined,
  memory: undefined,
  rebootPolicy: undefined,
  resources: undefined,
});

const blankCpu = (): Blank<CPU> => ({
  cores: undefined,
  dedicatedCpuPlacement: undefined,
  features: undefined,
  isolateEmulatorThread: undefined,
  maxSockets: undefined,
  model: undefined,
  numa: undefined,
  realtime: undefined,
  sockets: undefined,
  threads: undefined,
});

const blankFeatures = (): Blank<Features> => ({
  acpi: undefined,
  apic: undefined,
  hyperv: undefined,
  hypervPassthrough: undefined,
  kvm: undefined,
  pvspinlock: undefined,
  smm: undefined,
});

const blankFirmware = (): Blank<Firmware> => ({
  acpi: undefined,
  bootloader: undefined,
  kernelBoot: undefined,
  serial: undefined,
  uuid: undefined,
});

const blankMemory = (): Blank<Memory> => ({
  guest: undefined,
  hugepages: undefined,
  maxGuest: undefined,
  reservedOverhead: undefined,
});

const blankDevices = (): Blank<Devices> => ({
  autoattachGraphicsDevice: undefined,
  autoattachInputDevice: undefined,
  autoattachMemBalloon: undefined,
  autoattachPodInterface: undefined,
  autoattachSerialConsole: undefined,
  autoattachVSOCK: undefined,
  blockMultiQueue: undefined,
  clientPassthrough: undefined,
  disableHotplug: undefined,
  disks: undefined,
  downwardMetrics: undefined,
  filesystems: undefined,
  gpus: undefined,
  hostDevices: undefined,
  inputs: undefined,
  interfaces: undefined,
  logSerialConsole: undefined,
  networkInterfaceMultiqueue: undefined,
  panicDevices: undefined,
  rng: undefined,
  sound: undefined,
  tpm: undefined,
  useVirtioTransitional: undefined,
  video: undefined,
  watchdog: undefined,
});

const blankDisk = (): Blank<Disk> => ({
  blockSize: undefined,
  bootOrder: undefined,
  cache: undefined,
  cdrom: undefined,
  changedBlockTracking: undefined,
  dedicatedIOThread: undefined,
  disk: undefined,
  errorPolicy: undefined,
  io: undefined,
  lun: undefined,
  name: undefined,
  serial: undefined,
  shareable: undefined,
  tag: undefined,
});

const blankInterface = (): Blank<Interface> => ({
  acpiIndex: undefined,
  binding: undefined,
  bootOrder: undefined,
  bridge: undefined,
  dhcpOptions: undefined,
  macAddress: undefined,
  macvtap: undefined,
  masquerade: undefined,
  model: undefined,
  name: undefined,
  passt: undefined,
  passtBinding: undefined,
  pciAddress: undefined,
  portRanges: undefined,
  ports: undefined,
  slirp: undefined,
  sriov: undefined,
  state: undefined,
  tag: undefined,
});

const blankVolume = (): Blank<Volume> => ({
  cloudInitConfigDrive: undefined,
  cloudInitNoCloud: undefined,
  configMap: undefined,
  containerDisk: undefined,
  containerPath: undefined,
  dataVolume: undefined,
  downwardAPI: undefined,
  downwardMetrics: undefined,
  emptyDisk: undefined,
  ephemeral: undefined,
  hostDisk: undefined,
  memoryDump: undefined,
  name: undefined,
  persistentVolumeClaim: undefined,
  secret: undefined,
  serviceAccount: undefined,
  sysprep: undefined,
});
