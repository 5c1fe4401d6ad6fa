import { NetworkSetupError } from "./network-setup-error.ts";

/** `02:00:00:00:00:01` or `02-00-00-00-00-01`. */
const pairs = /^[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1){4}[0-9a-f]{2}$/i;
/** `0200.0000.0001`. */
const quads = /^(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}$/i;

/**
 * Reads six bytes in hexadecimal, in pairs or as routers write them; throws a
 * {@link NetworkSetupError} that names `path` otherwise.
 */
export function parseMac(text: string, path: string): Uint8Array {
  if (!pairs.test(text) && !quads.test(text)) {
    const message = `${path} is ${JSON.stringify(text)}; it must be six bytes, as 02:00:00:00:00:01`;
    throw new NetworkSetupError("NETWORK_ADDRESS_INVALID", message, { path });
  }
  return Uint8Array.from(Buffer.from(text.replaceAll(/[:.-]/g, ""), "hex"));
}

/** Bytes as `02:00:00:00:00:01`; `""` for none. */
export function formatMac(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(":");
}
