import type { QuantityInput } from "@virtkit/api/schema";
import { MigrationError } from "../migration-error.ts";
import { readAmount } from "../policy/read-amount.ts";

const mebibyte = 1024 * 1024;

/**
 * A limit in the MiB per second that libvirt counts in, rounded, but never down to 0, which would be
 * without limit. 0 stays 0. An amount that is not a whole number rounds up and loses one byte, as in
 * KubeVirt.
 *
 * @throws MigrationError `MIGRATION_QUANTITY_INVALID` if it is not an amount, or is below zero.
 */
export function bandwidthMiB(bandwidth: QuantityInput): number {
  const path = "options.bandwidth";
  const quantity = readAmount(bandwidth, path);
  const bytes = Number(quantity.asInt64() ?? quantity.value() - 1n);
  if (bytes < 0) {
    const message = `${path}: ${quantity} is negative; use bytes per second, or 0 for no limit`;
    throw new MigrationError("MIGRATION_QUANTITY_INVALID", message, { path });
  }
  if (bytes === 0) return 0;
  return Math.max(1, Math.floor(bytes / mebibyte + 0.5));
}
