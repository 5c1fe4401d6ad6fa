import type * as X509 from "@peculiar/x509";

/** Loaded by those who sign, on first use: it takes 17 MB of memory and 0.2 s. */
export async function loadX509(): Promise<typeof X509> {
  // The library needs it and leaves it to its users to load it first.
  await import("reflect-metadata");
  return await import("@peculiar/x509");
}
