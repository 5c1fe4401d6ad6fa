import { bothEndian32, recordTime } from "./iso-fields.ts";

/**
 * Rock Ridge (RRIP 1.10 on SUSP 1.12): POSIX names, permissions and times in the free space of the
 * plain tree's records. Linux prefers it to Joliet.
 */

/** Declares that the fields below follow the protocol; only in the root's own record. */
export function sharingProtocol(): Uint8Array {
  return entry("SP", [0xbe, 0xef, 0]);
}

/** Declares the extension that the fields belong to; only in the root's own record. */
export function extensionReference(): Uint8Array {
  const id = Buffer.from("RRIP_1991A");
  return entry("ER", [id.length, 0, 0, 1, ...id]);
}

/** Type and permissions, links and owner: always the guest's root. */
export function posixAttributes(mode: number, links: number): Uint8Array {
  return entry(
    "PX",
    [mode, links, 0, 0].flatMap((value) => [...bothEndian32(value)]),
  );
}

const modifiedAccessedChanged = 0x0e;

/** Times of change, of access and of the attributes. */
export function timeStamps(time: Date): Uint8Array {
  const stamp = [...recordTime(time)];
  return entry("TF", [modifiedAccessedChanged, ...stamp, ...stamp, ...stamp]);
}

/** Longest part of a name in one field; a longer one continues in a second. */
const longestPart = 250;
const continued = 1;

/** The name in UTF-8. */
export function alternateName(name: string): Uint8Array {
  const bytes = Buffer.from(name);
  const first = bytes.subarray(0, longestPart);
  const rest = bytes.subarray(longestPart);
  if (rest.length === 0) return entry("NM", [0, ...first]);
  return Buffer.concat([entry("NM", [continued, ...first]), entry("NM", [0, ...rest])]);
}

export const continuationLength = 28;

/** Says where the fields continue that do not fit in the record. */
export function continuation(sector: number, offset: number, length: number): Uint8Array {
  return entry(
    "CE",
    [sector, offset, length].flatMap((value) => [...bothEndian32(value)]),
  );
}

function entry(signature: string, payload: readonly number[]): Uint8Array {
  return Buffer.from([...Buffer.from(signature), payload.length + 4, 1, ...payload]);
}
