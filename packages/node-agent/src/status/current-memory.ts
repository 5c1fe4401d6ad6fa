import { newQuantity, type QuantityFormat } from "@virtkit/api/quantity";

type Unit = readonly [bytes: bigint, format: QuantityFormat];

const units: Readonly<Record<string, Unit>> = {
  ...{ b: [1n, "BinarySI"], bytes: [1n, "BinarySI"] },
  ...{ k: [1n << 10n, "BinarySI"], KiB: [1n << 10n, "BinarySI"], KB: [10n ** 3n, "DecimalSI"] },
  ...{ M: [1n << 20n, "BinarySI"], MiB: [1n << 20n, "BinarySI"], MB: [10n ** 6n, "DecimalSI"] },
  ...{ G: [1n << 30n, "BinarySI"], GiB: [1n << 30n, "BinarySI"], GB: [10n ** 9n, "DecimalSI"] },
  ...{ T: [1n << 40n, "BinarySI"], TiB: [1n << 40n, "BinarySI"], TB: [10n ** 12n, "DecimalSI"] },
};

/**
 * Memory of a domain as a quantity; `undefined` for a unit that KubeVirt does not know, or no whole number. libvirt itself writes `KiB`, and
 * spells a single letter `k`, not `K`.
 */
export function currentMemory({
  value,
  unit,
}: {
  readonly value: number;
  readonly unit: string;
}): string | undefined {
  const known = Object.hasOwn(units, unit) ? units[unit] : undefined;
  // The launcher reports it: a pass must not fail because of a number that is not one.
  if (!known || !Number.isSafeInteger(value)) return undefined;
  const [bytes, format] = known;
  return newQuantity(BigInt(value) * bytes, format).toString();
}
