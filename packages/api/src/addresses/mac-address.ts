/** With colons, dashes, or as routers write them: `02:00:00:00:00:01`, `02-00-00-00-00-01`, `0200.0000.0001`. */
const notations = [
  /^[\da-f]{2}([:-])(?:[\da-f]{2}\1){4}[\da-f]{2}(?:(?:\1[\da-f]{2}){2})?$/i,
  /^[\da-f]{4}(?:\.[\da-f]{4}){2,3}$/i,
];

/**
 * Reads a hardware address in one of Go's notations: the six octets of Ethernet or the eight of EUI-64.
 * Returns `undefined` for anything else.
 */
export function parseMac(text: string): Uint8Array | undefined {
  if (!notations.some((notation) => notation.test(text))) return undefined;
  const digits = text.replaceAll(/[:.-]/g, "").match(/../g) ?? [];
  return Uint8Array.from(digits, (pair) => Number.parseInt(pair, 16));
}

/** Octets as `02:00:00:00:00:01`, which is how libvirt and the kernel write them; `""` for none. */
export function formatMac(octets: Uint8Array): string {
  return Array.from(octets, (octet) => octet.toString(16).padStart(2, "0")).join(":");
}
