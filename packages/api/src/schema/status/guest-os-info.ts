import { object, type Schema, string } from "../schema.ts";

/** The operating system, as the guest agent reports it. */
export interface VirtualMachineInstanceGuestOSInfo {
  id?: string;
  kernelRelease?: string;
  kernelVersion?: string;
  machine?: string;
  name?: string;
  prettyName?: string;
  version?: string;
  versionId?: string;
}

export const VirtualMachineInstanceGuestOSInfoSchema: Schema<VirtualMachineInstanceGuestOSInfo> =
  object<VirtualMachineInstanceGuestOSInfo>({
    id: string,
    kernelRelease: string,
    kernelVersion: string,
    machine: string,
    name: string,
    prettyName: string,
    version: string,
    versionId: string,
  });
