/** How many bytes are compared at once. Two TPMs do not share so many random bytes. */
const length = 16;
/** Of these, how many different values there are at least if the bytes are random, as those of keys and seeds. */
const distinct = 13;

/**
 * How much of the secrets in one state of a TPM is also in another one, from 0 to 1. A TPM rewrites its state at each start,
 * but its seeds and keys stay; two TPMs share only constants, a tenth.
 */
export function sharedSecrets(one: Buffer, other: Buffer): number {
  const [before, after] = [secretsOf(one), secretsOf(other)];
  const shared = [...before].filter((secret) => after.has(secret));
  return before.size === 0 ? 0 : shared.length / before.size;
}

function secretsOf(state: Buffer): ReadonlySet<string> {
  const found = new Set<string>();
  for (let start = 0; start + length <= state.length; start++) {
    const bytes = state.subarray(start, start + length);
    if (new Set(bytes).size >= distinct) found.add(bytes.toString("hex"));
  }
  return found;
}
