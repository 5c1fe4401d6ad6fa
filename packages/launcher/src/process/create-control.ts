import { createDomainManager, type GuestControl } from "@virtkit/domain-manager";
import type { Libvirt } from "@virtkit/domain-manager/libvirt";
import type { LauncherOptions } from "./launcher-options.ts";

/** A guest's control that ends with its launcher. The guest does not. */
export type OwnedControl = GuestControl & AsyncDisposable;

/** Makes the control of the launcher's guest, over a connection to its libvirtd. */
export type CreateControl = (libvirt: Libvirt, options: LauncherOptions) => Promise<OwnedControl>;

/** The real one: the domain manager's. */
export const createControl: CreateControl = async (libvirt, { namespace, name, uid, podUid }) =>
  createDomainManager({ libvirt, identity: { namespace, name, vmiUid: uid, podUid } });
