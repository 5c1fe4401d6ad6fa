/** Why the VMI cannot be brought to its desired state. */
export interface SyncFailure {
  readonly reason: string;
  readonly message: string;
  /** Nothing to try again: the missing object triggers a pass when it appears. */
  readonly isWaiting?: boolean;
}
