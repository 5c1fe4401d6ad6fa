import { bothEndian16, bothEndian32, descriptorTime, sectorSize } from "./iso-fields.ts";
import { utf16BigEndian } from "./iso-names.ts";

/** What a volume descriptor says. */
export interface VolumeFacts {
  readonly form: "plain" | "joliet";
  readonly label: string;
  readonly time: Date;
  readonly totalSectors: number;
  readonly pathTableBytes: number;
  readonly littlePathTable: number;
  readonly bigPathTable: number;
  readonly rootRecord: Uint8Array;
}

const plainType = 1;
const supplementaryType = 2;
/** Joliet, level 3. */
const jolietEscape = "%/E";

/** The sector that describes one of the trees. */
export function volumeDescriptor(facts: VolumeFacts): Uint8Array {
  const joliet = facts.form === "joliet";
  const text = (value: string, length: number) => padded(value, length, joliet);
  const bytes = Buffer.alloc(sectorSize);
  bytes.set(header(joliet ? supplementaryType : plainType), 0);
  bytes.set(text("LINUX", 32), 8);
  bytes.set(text(facts.label, 32), 40);
  bytes.set(bothEndian32(facts.totalSectors), 80);
  if (joliet) bytes.write(jolietEscape, 88, "latin1");
  bytes.set(bothEndian16(1), 120);
  bytes.set(bothEndian16(1), 124);
  bytes.set(bothEndian16(sectorSize), 128);
  bytes.set(bothEndian32(facts.pathTableBytes), 132);
  bytes.writeUInt32LE(facts.littlePathTable, 140);
  bytes.writeUInt32BE(facts.bigPathTable, 148);
  bytes.set(facts.rootRecord, 156);
  // Volume set, publisher, preparer, application; then copyright, abstract and bibliography files.
  bytes.set(text("", 128 * 4 + 37 * 3), 190);
  for (const at of [813, 830]) bytes.set(descriptorTime(facts.time), at);
  for (const at of [847, 864]) bytes.set(Buffer.from(`${"0".repeat(16)}\0`), at);
  bytes[881] = 1;
  return bytes;
}

/** The sector after the last descriptor. */
export function descriptorsEnd(): Uint8Array {
  const bytes = Buffer.alloc(sectorSize);
  bytes.set(header(255), 0);
  return bytes;
}

function header(type: number): Uint8Array {
  return Buffer.from([type, ...Buffer.from("CD001"), 1]);
}

function padded(text: string, length: number, joliet: boolean): Uint8Array {
  if (!joliet) return Buffer.from(text.slice(0, length).padEnd(length), "latin1");
  const bytes = Buffer.alloc(length);
  const units = Math.floor(length / 2);
  bytes.set(utf16BigEndian(text.slice(0, units).padEnd(units)));
  return bytes;
}
