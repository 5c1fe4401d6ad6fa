/**
 * The BOOTP header and options of a DHCPv4 packet (RFC 2131), as views into its bytes.
 * Offsets: op 0, htype 1, hlen 2, hops 3, xid 4, secs 8, flags 10, ciaddr 12, yiaddr 16, siaddr 20,
 * giaddr 24, chaddr 28, sname 44, file 108, cookie 236, options 240.
 */
export interface Dhcp4Packet {
  readonly transaction: Uint8Array;
  readonly flags: Uint8Array;
  readonly clientIp: Uint8Array;
  readonly relayIp: Uint8Array;
  readonly clientMac: Uint8Array;
  readonly options: ReadonlyMap<number, Uint8Array>;
}

const headerBytes = 240;
const maxHardwareAddress = 16;
const magicCookie = [99, 130, 83, 99];
const pad = 0;
const end = 255;
/**
 * The longest piece of an option; a longer value continues in another option with the same code
 * (RFC 3396).
 */
const maxOptionBytes = 255;
/** With IP and UDP headers 300 bytes, the smallest packet that old BOOTP clients accept. */
const minPacketBytes = 272;

/** Message types of option 53. */
export const messageTypes = {
  discover: 1,
  offer: 2,
  request: 3,
  decline: 4,
  ack: 5,
  nak: 6,
  release: 7,
  inform: 8,
} as const;

/**
 * Reads a packet; undefined if it is too short or its hardware address too long. Truncated options
 * end the list. The magic cookie is not checked, as in KubeVirt.
 */
export function decodeDhcp4(bytes: Uint8Array): Dhcp4Packet | undefined {
  const hardwareLength = bytes[2] ?? 0;
  if (bytes.length < headerBytes || hardwareLength > maxHardwareAddress) return undefined;
  return {
    transaction: bytes.subarray(4, 8),
    flags: bytes.subarray(10, 12),
    clientIp: bytes.subarray(12, 16),
    relayIp: bytes.subarray(24, 28),
    clientMac: bytes.subarray(28, 28 + hardwareLength),
    options: decodeOptions(bytes.subarray(headerBytes)),
  };
}

function decodeOptions(bytes: Uint8Array): Map<number, Uint8Array> {
  const options = new Map<number, Uint8Array>();
  let at = 0;
  while (at + 1 < bytes.length && bytes[at] !== end) {
    const code = bytes[at] ?? end;
    if (code === pad) {
      at++;
      continue;
    }
    const size = bytes[at + 1] ?? 0;
    if (at + 2 + size > bytes.length) break;
    options.set(code, bytes.subarray(at + 2, at + 2 + size));
    at += 2 + size;
  }
  return options;
}

/** An answer to `request` that gives the client `yourIp`, with the options in the order given. */
export function encodeDhcp4Reply(
  request: Dhcp4Packet,
  yourIp: Uint8Array,
  options: Iterable<readonly [number, Uint8Array]>,
): Uint8Array {
  const header = Buffer.alloc(headerBytes);
  header[0] = 2;
  header[1] = 1;
  header[2] = request.clientMac.length;
  header.set(request.transaction, 4);
  header.set(request.flags, 10);
  header.set(yourIp, 16);
  header.set(request.relayIp, 24);
  header.set(request.clientMac, 28);
  header.set(magicCookie, 236);
  const parts = [header, ...[...options].flatMap(encodeOption), Buffer.from([end])];
  const size = parts.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat(parts, Math.max(size, minPacketBytes));
}

function encodeOption([code, value]: readonly [number, Uint8Array]): Buffer[] {
  const pieces: Buffer[] = [];
  let start = 0;
  do {
    const piece = value.subarray(start, start + maxOptionBytes);
    pieces.push(Buffer.from([code, piece.length, ...piece]));
    start += maxOptionBytes;
  } while (start < value.length);
  return pieces;
}
