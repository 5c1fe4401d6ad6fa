import { DomainManagerError, type DomainStatus, type GuestControl } from "@virtkit/domain-manager";
import type { Libvirt } from "@virtkit/domain-manager/libvirt";
import type { LauncherOptions } from "./launcher-options.ts";

/** A guest's control that ends with its launcher. The guest does not. */
export type OwnedControl = GuestControl & AsyncDisposable;

/** Makes the control of the launcher's guest, over a connection to its libvirtd. */
export type CreateControl = (libvirt: Libvirt, options: LauncherOptions) => Promise<OwnedControl>;

/** The real one: the domain manager's. */
export const createControl: CreateControl = async (_, { namespace, name }) => {
  const refuse = async (): Promise<never> => {
    throw new DomainManagerError("DOMAIN_STATE", "the domain manager is not here yet");
  };
  const status: DomainStatus = {
    name: `${namespace}_${name}`,
    state: "Absent",
    reason: "Unknown",
    agent: "disconnected",
    interfaces: [],
    disks: [],
  };
  return {
    syncVmi: refuse,
    pause: refuse,
    unpause: refuse,
    shutdown: refuse,
    kill: refuse,
    delete: refuse,
    softReboot: refuse,
    reset: refuse,
    freeze: refuse,
    unfreeze: refuse,
    exec: refuse,
    guestPing: refuse,
    users: refuse,
    fileSystems: refuse,
    stats: refuse,
    screenshot: refuse,
    memoryDump: refuse,
    status: async () => status,
    async *events({ signal } = {}) {
      yield { at: new Date().toISOString(), kind: "status", status };
      await new Promise((resolve) => signal?.addEventListener("abort", resolve));
    },
    [Symbol.asyncDispose]: async () => {},
  };
};
