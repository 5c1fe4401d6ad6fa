import type { Clock } from "@virtkit/api/clock";
import type { Names } from "@virtkit/api/names";
import type { Log, Metrics } from "@virtkit/api/observe";
import type { GuestControl } from "@virtkit/domain-manager";
import type { Libvirt } from "@virtkit/domain-manager/libvirt";
import type { LauncherOptions } from "./launcher-options.ts";

/** A guest's control that ends with its launcher. The guest does not. */
export type OwnedControl = GuestControl & AsyncDisposable;

/** What a guest's control is made of. */
export interface ControlParts {
  /**
   * Connections to the launcher's libvirtd: one for the guest's life, and one that the agent may
   * block.
   */
  readonly libvirt: Libvirt;
  readonly agentLibvirt: Libvirt;
  readonly options: LauncherOptions;
  readonly names: Names;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics?: Metrics | undefined;
}

/** Makes the control of the launcher's guest. */
export type CreateControl = (parts: ControlParts) => Promise<OwnedControl>;

/** The real one: the domain manager's. */
export const createControl: CreateControl = async ({ options, ...parts }) => {
  const { createDomainManager } = await import("@virtkit/domain-manager");
  const { namespace, name, uid: vmiUid, podUid } = options;
  return createDomainManager({
    ...parts,
    identity: { namespace, name, vmiUid, podUid },
    onStage: ({ stage, state, message }) =>
      parts.log.info(message === undefined ? {} : { why: message }, `${stage}: ${state}`),
  });
};
