/** Why the VMI cannot be brought to where it should be. */
export interface SyncFailure {
  readonly reason: string;
  readonly message: string;
  /** Nothing is to be tried again: what is missing will show by itself when it comes. */
  readonly isWaiting?: boolean;
}
