/**
 * The product of two counts in 32 bits without a sign, in which KubeVirt keeps sockets, cores and
 * threads: what does not fit starts again from zero.
 */
export function product32(a: number, b: number): number {
  return Math.imul(a, b) >>> 0;
}
