import {
  array,
  type Empty,
  int,
  int32,
  type OpenEnum,
  object,
  openEnum,
  required,
  type Schema,
  string,
  uint,
} from "../schema.ts";

/** A binding that the cluster's configuration registers by name. */
export interface PluginBinding {
  name: string;
}

export const PluginBindingSchema: Schema<PluginBinding> = object<PluginBinding>({
  name: required(string),
});

/** Bridges the card to the Pod's interface. */
export type InterfaceBridge = Empty;

export const InterfaceBridgeSchema: Schema<InterfaceBridge> = object<InterfaceBridge>({});

/** A DHCP option from the private range, 224 to 254. */
export interface DHCPPrivateOptions {
  /** From 224 to 254. */
  option: number;
  value: string;
}

export const DHCPPrivateOptionsSchema: Schema<DHCPPrivateOptions> = object<DHCPPrivateOptions>({
  option: required(int),
  value: required(string),
});

/** DHCP settings for the guest in addition to its address. */
export interface DHCPOptions {
  /** Option 67. */
  bootFileName?: string;
  /** IPv4 addresses. */
  ntpServers?: string[];
  privateOptions?: DHCPPrivateOptions[];
  /** Option 66. */
  tftpServerName?: string;
}

export const DHCPOptionsSchema: Schema<DHCPOptions> = object<DHCPOptions>({
  bootFileName: string,
  ntpServers: array(string),
  privateOptions: array(DHCPPrivateOptionsSchema),
  tftpServerName: string,
});

/** No longer supported; kept so that old objects can be read. */
export type DeprecatedInterfaceMacvtap = Empty;

export const DeprecatedInterfaceMacvtapSchema: Schema<DeprecatedInterfaceMacvtap> =
  object<DeprecatedInterfaceMacvtap>({});

/** Hides the guest behind the Pod's address. */
export type InterfaceMasquerade = Empty;

export const InterfaceMasqueradeSchema: Schema<InterfaceMasquerade> = object<InterfaceMasquerade>(
  {},
);

/** No longer supported; kept so that old objects can be read. */
export type DeprecatedInterfacePasst = Empty;

export const DeprecatedInterfacePasstSchema: Schema<DeprecatedInterfacePasst> =
  object<DeprecatedInterfacePasst>({});

/** Forwards connections in user space with passt. */
export type InterfacePasstBinding = Empty;

export const InterfacePasstBindingSchema: Schema<InterfacePasstBinding> =
  object<InterfacePasstBinding>({});

/** A range of ports that is forwarded to the guest, including both ends. */
export interface PortRange {
  end: number;
  protocol: string;
  start: number;
}

export const PortRangeSchema: Schema<PortRange> = object<PortRange>({
  end: required(int32),
  protocol: required(string),
  start: required(int32),
});

/** A port that is forwarded to the guest. */
export interface Port {
  name?: string;
  port: number;
  /** `TCP` or `UDP`; `TCP` if absent. */
  protocol?: string;
}

export const PortSchema: Schema<Port> = object<Port>({
  name: string,
  port: required(int32),
  protocol: string,
});

/** No longer supported; kept so that old objects can be read. */
export type DeprecatedInterfaceSlirp = Empty;

export const DeprecatedInterfaceSlirpSchema: Schema<DeprecatedInterfaceSlirp> =
  object<DeprecatedInterfaceSlirp>({});

/** Assigns a virtual function of a network card to the guest. */
export type InterfaceSRIOV = Empty;

export const InterfaceSRIOVSchema: Schema<InterfaceSRIOV> = object<InterfaceSRIOV>({});

/** Whether the link is up, or the interface should be unplugged. */
export type InterfaceState = OpenEnum<typeof InterfaceStateValues>;
export const InterfaceStateValues = ["absent", "up", "down"] as const;
export const InterfaceStateSchema: Schema<InterfaceState> = openEnum(InterfaceStateValues);

/** A network card of the guest, attached to the network of the same name. */
export interface Interface {
  /** Makes the interface's name in the guest stable. */
  acpiIndex?: number;
  binding?: PluginBinding;
  /** 1 boots first; two devices cannot have the same number. */
  bootOrder?: number;
  bridge?: InterfaceBridge;
  dhcpOptions?: DHCPOptions;
  /** Six bytes in hexadecimal, separated by `:` or `-`; generated if absent. */
  macAddress?: string;
  macvtap?: DeprecatedInterfaceMacvtap;
  masquerade?: InterfaceMasquerade;
  /** `virtio`, `e1000`, `e1000e`, `ne2k_pci`, `pcnet`, `rtl8139` or `igb`; `virtio` if absent. */
  model?: string;
  name: string;
  passt?: DeprecatedInterfacePasst;
  passtBinding?: InterfacePasstBinding;
  /** For example `0000:81:01.10`. */
  pciAddress?: string;
  /** With masquerade: only these are forwarded. Not together with `ports`. */
  portRanges?: PortRange[];
  /** Only these are forwarded; all of them if absent. Not together with `portRanges`. */
  ports?: Port[];
  slirp?: DeprecatedInterfaceSlirp;
  sriov?: InterfaceSRIOV;
  state?: InterfaceState;
  /** Passed to the guest as metadata of the device. */
  tag?: string;
}

export const InterfaceSchema: Schema<Interface> = object<Interface>({
  acpiIndex: int,
  binding: PluginBindingSchema,
  bootOrder: uint,
  bridge: InterfaceBridgeSchema,
  dhcpOptions: DHCPOptionsSchema,
  macAddress: string,
  macvtap: DeprecatedInterfaceMacvtapSchema,
  masquerade: InterfaceMasqueradeSchema,
  model: string,
  name: required(string),
  passt: DeprecatedInterfacePasstSchema,
  passtBinding: InterfacePasstBindingSchema,
  pciAddress: string,
  portRanges: array(PortRangeSchema, { listType: "atomic" }),
  ports: array(PortSchema),
  slirp: DeprecatedInterfaceSlirpSchema,
  sriov: InterfaceSRIOVSchema,
  state: InterfaceStateSchema,
  tag: string,
});
