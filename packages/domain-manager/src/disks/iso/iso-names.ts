/** Longest name of the plain tree, without the version; level 2 of ISO 9660. */
const longestPlain = 30;
/** Longest name of the Joliet tree in UTF-16 units. */
const longestJoliet = 64;
const version = ";1";

/**
 * Names for one directory of an ISO image: each call returns a different one, as similar to the
 * guest's name as the tree allows.
 */
export type NameMaker = (name: string, isDirectory: boolean) => Uint8Array;

/** Names of the plain tree: capital letters, digits and `_`, one dot, at most 30 letters. */
export function plainNames(): NameMaker {
  const taken: Taken = new Map();
  return (name, isDirectory) => {
    const dot = isDirectory ? -1 : name.lastIndexOf(".");
    const stem = plain(dot < 0 ? name : name.slice(0, dot)) || "_";
    const extension = dot < 0 ? "" : plain(name.slice(dot + 1)).slice(0, 8);
    const room = longestPlain - (isDirectory ? 0 : extension.length + 1);
    const unique = firstFree(taken, stem, room, (text) =>
      isDirectory ? text : `${text}.${extension}`,
    );
    return new TextEncoder().encode(isDirectory ? unique : unique + version);
  };
}

function plain(text: string): string {
  return text.toUpperCase().replace(/[^A-Z0-9_]/gu, "_");
}

/** Names of the Joliet tree, which Windows reads: UTF-16, without the letters that Windows forbids. */
export function jolietNames(): NameMaker {
  const taken: Taken = new Map();
  return (name, isDirectory) => {
    const end = isDirectory ? "" : version;
    const allowed = name.replace(/[\p{Cc}*/:;?\\]/gu, "_");
    const unique = firstFree(taken, allowed, longestJoliet - end.length, (text) => text);
    return utf16BigEndian(unique + end);
  };
}

/** UTF-16 in the byte order of Joliet. */
export function utf16BigEndian(text: string): Uint8Array {
  return Buffer.from(text, "utf16le").swap16();
}

/** Names in use, and for each the number from which to look for a free one. */
type Taken = Map<string, number>;

/** The text, cut to the available length; with a number at its end if that is taken. */
function firstFree(
  taken: Taken,
  text: string,
  room: number,
  finish: (text: string) => string,
): string {
  const wanted = finish(cut(text, room));
  for (let attempt = taken.get(wanted) ?? 0; ; attempt++) {
    const number = attempt === 0 ? "" : String(attempt);
    const name = finish(cut(text, room - number.length) + number);
    if (taken.has(name)) continue;
    taken.set(name, 1);
    taken.set(wanted, attempt + 1);
    return name;
  }
}

/** The beginning of a string, without half a character at its end. */
function cut(text: string, units: number): string {
  const part = text.slice(0, units);
  return /[\ud800-\udbff]$/.test(part) ? part.slice(0, -1) : part;
}
