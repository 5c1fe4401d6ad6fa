export { isNetworkSetupError, NetworkSetupError } from "../network-setup-error.ts";
export { discover, discoverNics, type PodNetworkState } from "./discover.ts";
export { type Journal, type JournalEntry, openJournal } from "./journal.ts";
export { openPodNetwork, type PodNetwork } from "./pod-network.ts";
export { type ApplyOptions, unwirePod, type WirePodOptions, wirePod } from "./wire-pod.ts";
