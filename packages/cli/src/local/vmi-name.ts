import type { VmiRecord } from "@virtkit/local";

/** The name of a VMI on the command line. */
export function vmiName({ namespace, name }: Pick<VmiRecord, "namespace" | "name">): string {
  return namespace === "default" ? name : `${namespace}/${name}`;
}
