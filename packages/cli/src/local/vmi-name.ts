import type { VmiRecord } from "@virtkit/local";

/** How a VMI is called on the command line. */
export function vmiName({ namespace, name }: Pick<VmiRecord, "namespace" | "name">): string {
  return namespace === "default" ? name : `${namespace}/${name}`;
}
