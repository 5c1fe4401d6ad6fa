import { type Check, list, open, text, whole } from "./check.ts";

/** What a launcher says about itself. */
export interface LauncherInfo {
  /** Versions of the channel that it speaks. */
  readonly versions: readonly number[];
  /** Its name and release. */
  readonly software: string;
  /** The VMI that it was started for. */
  readonly vmi: { readonly name: string; readonly namespace: string; readonly uid: string };
  /** Verbs that it knows. */
  readonly verbs: readonly string[];
  /** Networks for which it serves addresses to the guest, on sockets that were handed over. */
  readonly servedNetworks: readonly string[];
}

const name = text(4_096);

export const checkInfo: Check<LauncherInfo> = open({
  versions: list(whole(1, 1_000_000), 1_000),
  software: name,
  vmi: open({ name, namespace: name, uid: name }),
  verbs: list(name, 1_000),
  servedNetworks: list(name, 1_000),
});
