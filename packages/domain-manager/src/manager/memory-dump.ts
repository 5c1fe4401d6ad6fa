import { DomainManagerError } from "../domain-manager-error.ts";
import type { DomainRef } from "../libvirt/event-hub.ts";
import type { Caller } from "./guest-domain.ts";

/**
 * Writes a guest's memory to a file, as an ELF core. The guest is paused meanwhile. If the caller
 * gives up, libvirt is told to stop.
 */
export async function dumpMemory(
  libvirt: Caller,
  dom: DomainRef,
  path: string,
  { signal }: { readonly signal: AbortSignal },
): Promise<void> {
  try {
    const args = { dom, to: path, format: "raw", flags: ["memoryOnly"] } as const;
    await libvirt.call("domainCoreDump", args, { signal });
  } catch (error) {
    if (signal.aborted) await libvirt.call("domainAbortJob", { dom }).catch(() => {});
    throw error;
  }
}

/** @throws DomainManagerError unless it is a plain absolute path. */
export function requireDumpPath(path: unknown): string {
  const isPlain =
    typeof path === "string" &&
    path.startsWith("/") &&
    path.length < 4096 &&
    !path.includes("\0") &&
    path.split("/").every((part) => part !== "." && part !== "..");
  if (isPlain) return path;
  const shown = JSON.stringify(path)?.slice(0, 100) ?? "nothing";
  const message = `path: found ${shown}, give an absolute path without "." and ".."`;
  throw new DomainManagerError("DOMAIN_ARGUMENT", message, { path: "path" });
}
