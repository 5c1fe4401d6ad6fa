/** What to do with a running migration. */
export type Verdict =
  | { readonly action: "go-on" }
  /** Switch to post-copy; the mode is `PostCopy` from then on. */
  | { readonly action: "postcopy"; readonly reason: string }
  /** Suspend the guest at the source; the mode is `Paused` from then on. */
  | { readonly action: "pause"; readonly reason: string; readonly completionSeconds: number }
  /** Let QEMU stop the guest for this long, which it does as soon as that is enough. */
  | {
      readonly action: "set-downtime";
      readonly reason: string;
      readonly maxDowntimeMs: number;
      readonly completionSeconds?: number;
    }
  | { readonly action: "abort"; readonly reason: string };

/** QEMU accepts no longer downtime. */
export const largestDowntimeMs = 2_000_000;
