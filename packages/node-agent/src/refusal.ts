/** One thing that keeps a VMI from running on this host. */
export interface Refusal {
  /** The field of the VMI, or the option or program, that it is about. */
  readonly field: string;
  readonly found: string;
  /** What to do about it. */
  readonly instead: string;
}
