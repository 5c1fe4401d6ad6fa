import type { VirtualMachineInstance } from "@virtkit/api/schema";

/** Something that happened to the VMIs of a source, with the whole object each time. */
export type VmiChange =
  | { readonly kind: "added" | "changed"; readonly vmi: VirtualMachineInstance }
  /** The VMI is known to be gone, as it was last; one that only could not be read is not. */
  | { readonly kind: "removed"; readonly vmi: VirtualMachineInstance }
  /** All that was there at the beginning has been told. Comes once. */
  | { readonly kind: "synced" }
  /** Something cannot be read. What it held before stays as it was. */
  | { readonly kind: "problem"; readonly path: string; readonly error: Error };

/** Where VMIs come from: a folder of manifests, or a watch of an API server. */
export interface VmiSource {
  /** Begins with all that is there. Ends when the signal is raised or the iterator is returned. */
  watch(options?: { readonly signal?: AbortSignal }): AsyncIterable<VmiChange>;
}
