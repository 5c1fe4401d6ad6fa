import { type Rng, RngSchema } from "../devices/devices.ts";
import {
  type BlockSize,
  BlockSizeSchema,
  type DiskBus,
  DiskBusSchema,
  type DriverCache,
  DriverCacheSchema,
  type DriverIO,
  DriverIOSchema,
} from "../devices/disk.ts";
import { type VGPUOptions, VGPUOptionsSchema } from "../devices/gpu.ts";
import {
  type InputBus,
  InputBusSchema,
  type InputType,
  InputTypeSchema,
} from "../devices/input.ts";
import { type InterfaceMasquerade, InterfaceMasqueradeSchema } from "../devices/interface.ts";
import { type PanicDeviceModel, PanicDeviceModelSchema } from "../devices/panic-device.ts";
import { type TPMDevice, TPMDeviceSchema } from "../devices/tpm.ts";
import { boolean, object, type Schema, string } from "../schema.ts";

/** Preferred devices. */
export interface DevicePreferences {
  preferredAutoattachGraphicsDevice?: boolean;
  preferredAutoattachInputDevice?: boolean;
  preferredAutoattachMemBalloon?: boolean;
  preferredAutoattachPodInterface?: boolean;
  preferredAutoattachSerialConsole?: boolean;
  preferredBlockMultiQueue?: boolean;
  preferredCdromBus?: DiskBus;
  preferredDisableHotplug?: boolean;
  preferredDiskBlockSize?: BlockSize;
  preferredDiskBus?: DiskBus;
  preferredDiskCache?: DriverCache;
  preferredDiskDedicatedIoThread?: boolean;
  preferredDiskIO?: DriverIO;
  preferredInputBus?: InputBus;
  preferredInputType?: InputType;
  preferredInterfaceMasquerade?: InterfaceMasquerade;
  preferredInterfaceModel?: string;
  preferredLunBus?: DiskBus;
  preferredNetworkInterfaceMultiQueue?: boolean;
  preferredPanicDeviceModel?: PanicDeviceModel;
  preferredRng?: Rng;
  preferredSoundModel?: string;
  preferredTPM?: TPMDevice;
  preferredUseVirtioTransitional?: boolean;
  preferredVideoType?: string;
  preferredVirtualGPUOptions?: VGPUOptions;
}

export const DevicePreferencesSchema: Schema<DevicePreferences> = object<DevicePreferences>({
  preferredAutoattachGraphicsDevice: boolean,
  preferredAutoattachInputDevice: boolean,
  preferredAutoattachMemBalloon: boolean,
  preferredAutoattachPodInterface: boolean,
  preferredAutoattachSerialConsole: boolean,
  preferredBlockMultiQueue: boolean,
  preferredCdromBus: DiskBusSchema,
  preferredDisableHotplug: boolean,
  preferredDiskBlockSize: BlockSizeSchema,
  preferredDiskBus: DiskBusSchema,
  preferredDiskCache: DriverCacheSchema,
  preferredDiskDedicatedIoThread: boolean,
  preferredDiskIO: DriverIOSchema,
  preferredInputBus: InputBusSchema,
  preferredInputType: InputTypeSchema,
  preferredInterfaceMasquerade: InterfaceMasqueradeSchema,
  preferredInterfaceModel: string,
  preferredLunBus: DiskBusSchema,
  preferredNetworkInterfaceMultiQueue: boolean,
  preferredPanicDeviceModel: PanicDeviceModelSchema,
  preferredRng: RngSchema,
  preferredSoundModel: string,
  preferredTPM: TPMDeviceSchema,
  preferredUseVirtioTransitional: boolean,
  preferredVideoType: string,
  preferredVirtualGPUOptions: VGPUOptionsSchema,
});
