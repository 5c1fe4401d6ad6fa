/** An address as its octets: 4 for IPv4, 16 for IPv6. */
type Octets = readonly number[] | Uint8Array;

/**
 * Reads an IP address the way KubeVirt's decoders do: leading zeros in IPv4 are allowed and mean
 * nothing (`010.1.1.1` is 10.1.1.1), a zone is not. Returns `undefined` for anything else.
 */
export function parseIp(text: string): readonly number[] | undefined {
  if (text.length > 100) return undefined;
  return text.includes(":") ? parseIpv6(text) : parseIpv4(text);
}

/** Whether the address is IPv4, even if it is written as an IPv4-mapped IPv6 address. */
export function isIpv4(octets: Octets): boolean {
  return octets.length === 4 || isMapped(octets);
}

/** The canonical text: no leading zeros, the longest run of zero groups as `::`, IPv4-mapped as IPv4. */
export function formatIp(octets: Octets): string {
  if (octets.length === 4) return octets.join(".");
  if (isMapped(octets)) return octets.slice(12).join(".");
  const groups = Array.from({ length: 8 }, (_, i) => groupAt(octets, i));
  const { start, length } = longestZeroRun(groups);
  const hex = (part: readonly number[]): string =>
    part.map((group) => group.toString(16)).join(":");
  if (length < 2) return hex(groups);
  return `${hex(groups.slice(0, start))}::${hex(groups.slice(start + length))}`;
}

/** Reads `address/bits` with the leniency of {@link parseIp}; the address need not be the network's. */
export function parseCidr(text: string): { ip: readonly number[]; bits: number } | undefined {
  const slash = text.indexOf("/");
  if (slash < 0) return undefined;
  const ip = parseIp(text.slice(0, slash));
  const size = text.slice(slash + 1);
  if (!ip || !/^\d{1,6}$/.test(size)) return undefined;
  const bits = Number(size);
  return bits <= ip.length * 8 ? { ip, bits } : undefined;
}

function isMapped(octets: Octets): boolean {
  return (
    octets.length === 16 &&
    octets.slice(0, 10).every((octet) => octet === 0) &&
    octets[10] === 0xff &&
    octets[11] === 0xff
  );
}

function groupAt(octets: Octets, index: number): number {
  return ((octets[index * 2] ?? 0) << 8) | (octets[index * 2 + 1] ?? 0);
}

function longestZeroRun(groups: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  let start = 0;
  for (let i = 0; i <= groups.length; i++) {
    if (groups[i] === 0) continue;
    if (i - start > best.length) best = { start, length: i - start };
    start = i + 1;
  }
  return best;
}

function parseIpv4(text: string): number[] | undefined {
  const parts = text.split(".");
  if (parts.length !== 4) return undefined;
  if (!parts.every((part) => /^\d+$/.test(part) && Number(part) <= 255)) return undefined;
  return parts.map(Number);
}

function parseIpv6(text: string): number[] | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map((half, i) =>
    octetsOfGroups(half, { mayBeEmpty: halves.length === 2, isEnd: i === halves.length - 1 }),
  );
  if (!head) return undefined;
  if (halves.length === 1) return head.length === 16 ? head : undefined;
  if (!tail) return undefined;
  const missing = 16 - head.length - tail.length;
  // "::" stands for at least one group.
  if (missing < 2) return undefined;
  return [...head, ...new Array<number>(missing).fill(0), ...tail];
}

function octetsOfGroups(
  text: string,
  { mayBeEmpty, isEnd }: { mayBeEmpty: boolean; isEnd: boolean },
): number[] | undefined {
  if (text === "") return mayBeEmpty ? [] : undefined;
  const octets: number[] = [];
  const groups = text.split(":");
  for (const [index, group] of groups.entries()) {
    const mayBeV4 = isEnd && index === groups.length - 1 && group.includes(".");
    const read = mayBeV4 ? parseIpv4(group) : octetsOfGroup(group);
    if (!read) return undefined;
    octets.push(...read);
  }
  return octets;
}

function octetsOfGroup(group: string): number[] | undefined {
  const value = /^[0-9a-fA-F]+$/.test(group) ? Number.parseInt(group, 16) : Number.NaN;
  return value <= 0xffff ? [value >> 8, value & 0xff] : undefined;
}
