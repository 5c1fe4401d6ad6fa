import { parseQuantity } from "@virtkit/api/quantity";

/** A quantity's suffix for each unit of libvirt, which writes `KiB` itself. */
const suffixes: Readonly<Record<string, string>> = {
  b: "",
  bytes: "",
  KB: "k",
  K: "Ki",
  KiB: "Ki",
  MB: "M",
  M: "Mi",
  MiB: "Mi",
  GB: "G",
  G: "Gi",
  GiB: "Gi",
  TB: "T",
  T: "Ti",
  TiB: "Ti",
};

/** Memory of a domain as a quantity; `undefined` for a unit that libvirt does not have. */
export function currentMemory({
  value,
  unit,
}: {
  readonly value: number;
  readonly unit: string;
}): string | undefined {
  const suffix = Object.hasOwn(suffixes, unit) ? suffixes[unit] : undefined;
  return suffix === undefined ? undefined : parseQuantity(`${value}${suffix}`).toString();
}
