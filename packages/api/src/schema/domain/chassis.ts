import { object, type Schema, string } from "../schema.ts";

/** SMBIOS information about the chassis. */
export interface Chassis {
  asset?: string;
  manufacturer?: string;
  serial?: string;
  sku?: string;
  version?: string;
}

export const ChassisSchema: Schema<Chassis> = object<Chassis>({
  asset: string,
  manufacturer: string,
  serial: string,
  sku: string,
  version: string,
});
