import { closeSync, existsSync, openSync } from "node:fs";
import { dirname, join } from "node:path";
import { NodeAgentError } from "../node-agent-error.ts";
import type { DeviceSource, PluginDevice } from "./device-source.ts";

/** A device node that many containers may share. */
export interface SharedNode {
  /** Prefix of its slots: `kvm` has `kvm0`, `kvm1`, ... */
  readonly name: string;
  /** As containers and the node know it: `/dev/kvm`. */
  readonly path: string;
  readonly slots: number;
  /** Where this process sees the node's root. Default `/`. */
  readonly root?: string;
  /** The kernel loads the module of some when they are first opened. Default true. */
  readonly openFirst?: boolean;
}

/**
 * Slots for one device node: the number of containers that may share it. All are healthy while the device node
 * exists.
 */
export function slotDevices({
  name,
  path,
  slots,
  root = "/",
  openFirst = true,
}: SharedNode): DeviceSource {
  const place = join(root, path);
  if (openFirst) wake(place);
  const all = (healthy: boolean): readonly PluginDevice[] =>
    Array.from({ length: slots }, (_, slot) => ({ id: `${name}${slot}`, healthy }));
  const [well, ill] = [all(true), all(false)];
  return {
    directories: [dirname(place)],
    list: () => (existsSync(place) ? well : ill),
    allocate: () => {
      if (existsSync(place)) return { nodes: [{ path, permissions: "rw" }], env: {} };
      const message = `${path} no longer exists; check what removed it from the node`;
      throw new NodeAgentError("AGENT_DEVICE_PLUGIN", message, { path });
    },
  };
}

function wake(place: string): void {
  try {
    closeSync(openSync(place, "r"));
  } catch {
    // Its devices are then unhealthy, which is reported to the kubelet.
  }
}
