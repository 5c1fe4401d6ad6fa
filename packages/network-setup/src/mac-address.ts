import { NetworkSetupError } from "./network-setup-error.ts";

/** Reads six bytes in hexadecimal; throws a {@link NetworkSetupError} that names `path` otherwise. */
export function parseMac(text: string, path: string): Uint8Array {
  if (!/^([0-9a-f]{2}[:-]){5}[0-9a-f]{2}$/i.test(text)) {
    const message = `${path} is ${JSON.stringify(text)}; it must be six bytes, as 02:00:00:00:00:01`;
    throw new NetworkSetupError("NETWORK_ADDRESS_INVALID", message, { path });
  }
  return Uint8Array.from(text.split(/[:-]/), (byte) => Number.parseInt(byte, 16));
}

/** Bytes as `02:00:00:00:00:01`; `""` for none. */
export function formatMac(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(":");
}
