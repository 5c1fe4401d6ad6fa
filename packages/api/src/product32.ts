/**
 * The product of two counts in unsigned 32-bit arithmetic, as KubeVirt computes sockets, cores and threads:
 * overflow wraps around.
 */
export function product32(a: number, b: number): number {
  return Math.imul(a, b) >>> 0;
}
