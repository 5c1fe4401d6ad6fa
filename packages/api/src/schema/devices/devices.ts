import { array, boolean, type Empty, object, type Schema, withRules } from "../schema.ts";
import { type Disk, DiskSchema } from "./disk.ts";
import { type Filesystem, FilesystemSchema } from "./filesystem.ts";
import { type GPU, GPUSchema } from "./gpu.ts";
import { type HostDevice, HostDeviceSchema } from "./host-device.ts";
import { type Input, InputSchema } from "./input.ts";
import { type Interface, InterfaceSchema } from "./interface.ts";
import { type PanicDevice, PanicDeviceSchema } from "./panic-device.ts";
import { type SoundDevice, SoundDeviceSchema } from "./sound.ts";
import { type TPMDevice, TPMDeviceSchema } from "./tpm.ts";
import { type VideoDevice, VideoDeviceSchema } from "./video.ts";
import { type Watchdog, WatchdogSchema } from "./watchdog.ts";

/** USB devices of a client that can be redirected to the guest. */
export type ClientPassthroughDevices = Empty;

export const ClientPassthroughDevicesSchema: Schema<ClientPassthroughDevices> =
  object<ClientPassthroughDevices>({});

/** Gives the guest metrics of the host, over a virtio-serial port. */
export type DownwardMetrics = Empty;

export const DownwardMetricsSchema: Schema<DownwardMetrics> = object<DownwardMetrics>({});

/** A random number generator, fed by the host. */
export type Rng = Empty;

export const RngSchema: Schema<Rng> = object<Rng>({});

/** The devices of the guest. */
export interface Devices {
  /** A graphics card and VNC; on if absent. */
  autoattachGraphicsDevice?: boolean;
  /** A tablet if no input is declared. */
  autoattachInputDevice?: boolean;
  /** A memory balloon; on if absent. */
  autoattachMemBalloon?: boolean;
  /** The Pod network if no network is declared; on if absent. */
  autoattachPodInterface?: boolean;
  /** A serial console; on if absent. */
  autoattachSerialConsole?: boolean;
  /** A VSOCK device between host and guest, with an address. */
  autoattachVSOCK?: boolean;
  /** As many queues per disk as CPUs. */
  blockMultiQueue?: boolean;
  clientPassthrough?: ClientPassthroughDevices;
  /** Disks cannot be plugged in or out while the guest runs. */
  disableHotplug?: boolean;
  disks?: Disk[];
  downwardMetrics?: DownwardMetrics;
  filesystems?: Filesystem[];
  gpus?: GPU[];
  hostDevices?: HostDevice[];
  inputs?: Input[];
  interfaces?: Interface[];
  /** Writes the serial console to the log of a container. */
  logSerialConsole?: boolean;
  /** As many queues per network card as CPUs. */
  networkInterfaceMultiqueue?: boolean;
  panicDevices?: PanicDevice[];
  rng?: Rng;
  sound?: SoundDevice;
  tpm?: TPMDevice;
  /** Virtio devices that old guests support, too. */
  useVirtioTransitional?: boolean;
  video?: VideoDevice;
  watchdog?: Watchdog;
}

export const DevicesSchema: Schema<Devices> = object<Devices>({
  autoattachGraphicsDevice: boolean,
  autoattachInputDevice: boolean,
  autoattachMemBalloon: boolean,
  autoattachPodInterface: boolean,
  autoattachSerialConsole: boolean,
  autoattachVSOCK: boolean,
  blockMultiQueue: boolean,
  clientPassthrough: ClientPassthroughDevicesSchema,
  disableHotplug: boolean,
  disks: withRules(array(DiskSchema), { maxItems: 256 }),
  downwardMetrics: DownwardMetricsSchema,
  filesystems: array(FilesystemSchema, { listType: "atomic" }),
  gpus: array(GPUSchema, { listType: "atomic" }),
  hostDevices: array(HostDeviceSchema, { listType: "atomic" }),
  inputs: array(InputSchema),
  interfaces: withRules(array(InterfaceSchema), { maxItems: 256 }),
  logSerialConsole: boolean,
  networkInterfaceMultiqueue: boolean,
  panicDevices: array(PanicDeviceSchema),
  rng: RngSchema,
  sound: SoundDeviceSchema,
  tpm: TPMDeviceSchema,
  useVirtioTransitional: boolean,
  video: VideoDeviceSchema,
  watchdog: WatchdogSchema,
});
