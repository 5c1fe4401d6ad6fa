import type * as X509 from "@peculiar/x509";

/** Loaded by signers on first use: it takes 17 MB of memory and 0.2 s. */
export async function loadX509(): Promise<typeof X509> {
  // The library needs it, but its users must load it first.
  await import("reflect-metadata");
  return await import("@peculiar/x509");
}
