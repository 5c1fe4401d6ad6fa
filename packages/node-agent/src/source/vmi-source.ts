import type { VirtualMachineInstance } from "@virtkit/api/schema";

/** A change to the VMIs of a source, with the whole object each time. */
export type VmiChange =
  | { readonly kind: "added" | "changed"; readonly vmi: VirtualMachineInstance }
  /** The VMI is known to be gone; this is its last state. One that merely could not be read is not gone. */
  | { readonly kind: "removed"; readonly vmi: VirtualMachineInstance }
  /** Everything that existed at the beginning has been reported. Comes once. */
  | { readonly kind: "synced" }
  /** Something cannot be read. What it held before stays as it was. */
  | { readonly kind: "problem"; readonly path: string; readonly error: Error };

/** Where VMIs come from: a folder of manifests, or a watch of an API server. */
export interface VmiSource {
  /** Begins with everything that exists. Ends when the signal aborts or the iterator is returned. */
  watch(options?: { readonly signal?: AbortSignal }): AsyncIterable<VmiChange>;
}
