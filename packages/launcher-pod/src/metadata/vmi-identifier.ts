import { sha1, utf8 } from "@virtkit/api/hash";

const maxLength = 63;
const hashLength = 8;

/** A VMI's name as a label value: itself or, if it is too long, its start and a hash. */
export function vmiIdentifier(name: string): string {
  if (name.length <= maxLength) return name;
  let hash = "";
  for (const byte of sha1(utf8(name)).subarray(0, hashLength / 2)) {
    hash += byte.toString(16).padStart(2, "0");
  }
  return `${name.slice(0, maxLength - hashLength - 1)}-${hash}`;
}
