import type { ClusterConfig } from "../config/index.ts";
import type { Interface, Network, VirtualMachineInstanceSpec } from "../schema/index.ts";
import { type Cause, countSet, each, fine, invalid, join } from "./cause.ts";
import { networksByName } from "./network-lookup.ts";

/** The MAC address of the bridge that masquerade creates in the Pod. */
const bridgeMac = "02:00:00:00:00:00";

/** Every interface has one binding, on a network that supports it. */
export function interfaceBindings(
  spec: VirtualMachineInstanceSpec,
  at: string,
  config: ClusterConfig,
): readonly Cause[] {
  const networks = networksByName(spec);
  return each(spec.domain.devices.interfaces, (iface, i) => {
    const field = `${at}.domain.devices.interfaces[${i}]`;
    const network = networks.get(iface.name);
    return join(
      oneBinding(iface, field),
      masquerade(iface, network, field),
      bridge(iface, network, { field, config }),
      passt(iface, network, { field, config }),
    );
  });
}

function oneBinding(iface: Interface, field: string): readonly Cause[] {
  const { bridge, masquerade, sriov, passtBinding, binding } = iface;
  const bindings = countSet(bridge, masquerade, sriov, passtBinding, binding);
  if (bindings === 1) return fine;
  const found = bindings === 0 ? "has none" : `has ${bindings}`;
  return invalid(field, `${found} of bridge, masquerade, sriov, passtBinding, binding; set one`);
}

function masquerade(
  iface: Interface,
  network: Network | undefined,
  field: string,
): readonly Cause[] {
  if (!iface.masquerade) return fine;
  return join(
    network?.pod
      ? fine
      : invalid(
          `${field}.name`,
          "names a network other than the Pod's, but masquerade only works on the Pod network; use bridge",
        ),
    iface.macAddress === bridgeMac
      ? invalid(
          `${field}.macAddress`,
          `is ${bridgeMac}, which masquerade uses itself; choose another`,
        )
      : fine,
  );
}

interface Where {
  readonly field: string;
  readonly config: ClusterConfig;
}

function bridge(
  iface: Interface,
  network: Network | undefined,
  { field, config }: Where,
): readonly Cause[] {
  if (!iface.bridge || !network?.pod || config.permitBridgeInterfaceOnPodNetwork) return fine;
  return invalid(
    `${field}.name`,
    "names the Pod network, where this cluster does not permit bridge; use masquerade",
  );
}

function passt(
  iface: Interface,
  network: Network | undefined,
  { field, config }: Where,
): readonly Cause[] {
  if (!iface.passtBinding) return fine;
  return join(
    config.gate("PasstBinding")
      ? fine
      : invalid(
          `${field}.name`,
          "uses passtBinding, but the feature gate PasstBinding is off; turn it on",
        ),
    network?.pod
      ? fine
      : invalid(
          `${field}.name`,
          "names a network other than the Pod's, but passtBinding only works on the Pod network; use bridge",
        ),
  );
}
