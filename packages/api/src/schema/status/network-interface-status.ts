import { array, int32, object, type Schema, string } from "../schema.ts";

/** A network interface as seen by the node and from inside the guest. */
export interface VirtualMachineInstanceNetworkInterface {
  /** Who reported it: `domain`, `guest-agent`, `multus-status`; several are joined by commas. */
  infoSource?: string;
  /** The name in the guest. */
  interfaceName?: string;
  /** The first of `ipAddresses`. */
  ipAddress?: string;
  ipAddresses?: string[];
  linkState?: string;
  mac?: string;
  /** The network's name in the spec. */
  name?: string;
  /** The name in the Pod. */
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
