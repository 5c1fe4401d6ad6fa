/** The used parts of an `AbortSignal`, for which this package has no types. */
export interface Abortable {
  readonly aborted: boolean;
  throwIfAborted(): void;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}
