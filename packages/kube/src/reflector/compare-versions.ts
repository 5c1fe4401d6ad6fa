const decimal = /^[1-9][0-9]*$/;

/**
 * Compares two resource versions: negative if the first is older. Undefined if they are not decimal numbers,
 * as those of the server itself and of CRDs are: then only equality has a meaning.
 */
export function compareVersions(one: string, other: string): number | undefined {
  if (one === other) return 0;
  if (!decimal.test(one) || !decimal.test(other)) return undefined;
  // By length first: a version may be larger than what a number holds.
  return one.length - other.length || (one < other ? -1 : 1);
}
