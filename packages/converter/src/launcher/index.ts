export { attachTaps, type PodNetwork } from "./attach-taps.ts";
export { chooseCacheModes } from "./cache-modes.ts";
export { gracePeriodSeconds } from "./grace-period.ts";
export {
  type HotplugPorts,
  hotplugPorts,
  withDefinedDevices,
  withPlaceholders,
  withRootPorts,
} from "./hotplug-ports.ts";
export { chooseIoModes } from "./io-modes.ts";
export { launcherEdits, type PodFacts } from "./launcher-edits.ts";
