import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { DiskError } from "./disk-error.ts";
import { inStep } from "./files/write-image.ts";
import type { SparseImage } from "./image/sparse-image.ts";

/** A figure about the host or the guest, for vm-dump-metrics in the guest. */
export interface HostMetric {
  readonly name: string;
  readonly value: string;
  readonly type: "string" | "int32" | "uint32" | "int64" | "uint64" | "real32" | "real64";
  readonly context: "host" | "vm";
  readonly unit?: string;
}

const diskSize = 256 << 10;
const headerLength = 16;
/** As in vhostmd. */
const longestBody = diskSize - 24;

/** The disk of host metrics: a header with a checksum, then the metrics as XML. */
export function metricsDisk(metrics: readonly HostMetric[] = []): SparseImage {
  const body = metricsBody(metrics);
  return {
    size: diskSize,
    extents: [
      { offset: 0, bytes: header(body, false) },
      { offset: headerLength, bytes: body },
    ],
  };
}

/**
 * Writes new metrics to a disk that a guest has open. The header is marked busy meanwhile, so that
 * the guest does not read half of them.
 *
 * @throws DiskError if the metrics are over 256 KiB, or the file cannot be written.
 */
export async function updateMetricsDisk(
  path: string,
  metrics: readonly HostMetric[],
): Promise<void> {
  const body = metricsBody(metrics);
  await inStep("write metrics to", path, async () => {
    const file = await open(path, constants.O_RDWR | constants.O_NOFOLLOW);
    try {
      await file.write(header(body, true), 0, headerLength, 0);
      await file.datasync();
      await file.write(body, 0, body.length, headerLength);
      await file.datasync();
      await file.write(header(body, false), 0, headerLength, 0);
    } finally {
      await file.close();
    }
  });
}

function header(body: Uint8Array, isBusy: boolean): Uint8Array {
  const bytes = Buffer.alloc(headerLength);
  bytes.write("mvbd", 0, "latin1");
  bytes.writeInt32BE(isBusy ? 1 : 0, 4);
  bytes.writeInt32BE(
    body.reduce((sum, byte) => sum + byte, 0),
    8,
  );
  bytes.writeInt32BE(body.length, 12);
  return bytes;
}

function metricsBody(metrics: readonly HostMetric[]): Uint8Array {
  const inside = metrics.map(metricXml).join("");
  const body = Buffer.from(inside ? `<metrics>\n${inside}</metrics>\n` : "<metrics></metrics>\n");
  if (body.length <= longestBody) return body;
  throw new DiskError("DISK_TOO_LARGE", `metrics of ${body.length} bytes: at most ${longestBody}`);
}

function metricXml({ name, value, type, context, unit }: HostMetric): string {
  const unitAttribute = unit ? ` unit="${escapeXml(unit)}"` : "";
  return [
    `  <metric type="${type}" context="${context}"${unitAttribute}>\n`,
    `    <name>${escapeXml(name)}</name>\n`,
    `    <value>${escapeXml(value)}</value>\n`,
    "  </metric>\n",
  ].join("");
}

function escapeXml(text: string): string {
  return text.replace(/[<>&"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
}
