import { array, int32, object, type Schema, string } from "../schema.ts";

/** A network interface as seen by the node and from inside the guest. */
export interface VirtualMachineInstanceNetworkInterface {
  /** Who knows of it: `domain`, `guest-agent`, `multus-status`; several are joined by commas. */
  infoSource?: string;
  /** In the guest. */
  interfaceName?: string;
  /** The first of `ipAddresses`. */
  ipAddress?: string;
  ipAddresses?: string[];
  linkState?: string;
  mac?: string;
  /** Of the network in the spec. */
  name?: string;
  /** In the Pod. */
  podInterfaceName?: string;
  queueCount?: number;
}

export const VirtualMachineInstanceNetworkInterfaceSchema: Schema<VirtualMachineInstanceNetworkInterface> =
  object<VirtualMachineInstanceNetworkInterface>({
    infoSource: string,
    interfaceName: string,
    ipAddress: string,
    ipAddresses: array(string),
    linkState: string,
    mac: string,
    name: string,
    podInterfaceName: string,
    queueCount: int32,
  });
