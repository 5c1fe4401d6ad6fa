/** What is used of an `AbortSignal`, which this package has no types for. */
export interface Abortable {
  readonly aborted: boolean;
  throwIfAborted(): void;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}
