/** One thing that local mode cannot do with a VMI on this host. */
export interface Refusal {
  /** Of the VMI, or the option or program that it is about. */
  readonly field: string;
  readonly found: string;
  /** What to do about it. */
  readonly instead: string;
}

/** A refusal as one line. */
export function refusalText({ field, found, instead }: Refusal): string {
  return `${field}: ${found}; ${instead}`;
}
