import { DomainManagerError } from "../domain-manager-error.ts";
import type { DomainRef } from "../libvirt/event-hub.ts";
import type { Libvirt } from "../libvirt/libvirt.ts";
import type { CallOptions } from "../libvirt/rpc/pending-call.ts";
import type { DomainStats, Screenshot } from "./guest-control.ts";
import type { Caller } from "./guest-domain.ts";

/** All statistics of libvirt about a guest. Numbers above 2^53 lose their last digits. */
export async function readStats(
  libvirt: Caller,
  dom: DomainRef,
  options: CallOptions,
): Promise<DomainStats> {
  const args = { domains: [dom], flags: ["noWait"] } as const;
  const { records } = await libvirt.call("connectGetAllDomainStats", args, options);
  const params = Object.entries(records[0]?.params ?? {});
  return Object.fromEntries(
    params.map(([name, value]) => [name, typeof value === "bigint" ? Number(value) : value]),
  );
}

/** A picture of 4096 x 2160 with four bytes per pixel has 34 MiB. */
const largestScreenshot = 40 << 20;

/** A picture of the first screen. */
export async function takeScreenshot(
  libvirt: Pick<Libvirt, "screenshot">,
  dom: DomainRef,
  { signal }: { readonly signal: AbortSignal },
  limit: number = largestScreenshot,
): Promise<Screenshot> {
  const { mime, stream } = await libvirt.screenshot({ dom, screen: 0 }, { signal });
  const abort = (): void => stream.abort();
  signal.addEventListener("abort", abort, { once: true });
  try {
    const parts: Buffer[] = [];
    let length = 0;
    for await (const part of stream) {
      length += part.length;
      if (length > limit) throw tooLarge(limit);
      parts.push(part);
    }
    return { mime: mime ?? "application/octet-stream", data: Buffer.concat(parts) };
  } finally {
    signal.removeEventListener("abort", abort);
    stream.abort();
  }
}

function tooLarge(limit: number): DomainManagerError {
  const message = `screenshot: more than ${limit} bytes; make the guest's screen smaller`;
  return new DomainManagerError("DOMAIN_LIBVIRT", message, { path: "screenshot" });
}
