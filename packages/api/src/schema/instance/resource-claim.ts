import { object, required, type Schema, string } from "../schema.ts";

/** A dynamic resource claim of the launcher Pod, for devices to refer to. */
export interface VirtualMachineInstanceResourceClaim {
  name: string;
  /** An existing claim; otherwise `resourceClaimTemplateName`. */
  resourceClaimName?: string;
  resourceClaimTemplateName?: string;
}

export const VirtualMachineInstanceResourceClaimSchema: Schema<VirtualMachineInstanceResourceClaim> =
  object<VirtualMachineInstanceResourceClaim>({
    name: required(string),
    resourceClaimName: string,
    resourceClaimTemplateName: string,
  });
