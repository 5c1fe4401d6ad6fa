import { parseMac as octetsOf } from "@virtkit/api/addresses";
import { NetworkSetupError } from "./network-setup-error.ts";

/**
 * Reads an address of six octets; otherwise throws a {@link NetworkSetupError} that names `path`.
 */
export function parseMac(text: string, path: string): Uint8Array {
  const octets = octetsOf(text);
  if (octets?.length === 6) return octets;
  const message = `${path} is ${JSON.stringify(text)}; it must be six bytes, such as 02:00:00:00:00:01`;
  throw new NetworkSetupError("NETWORK_ADDRESS_INVALID", message, { path });
}
