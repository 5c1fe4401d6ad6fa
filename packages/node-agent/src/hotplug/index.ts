export { type AttachmentRoot, findAttachedVolume, openAttachment } from "./attached-volume.ts";
export { type HotplugPlan, type PlugKind, planHotplug, type WantedPlug } from "./hotplug-plan.ts";
export {
  type HotplugOptions,
  HotplugVolumes,
  type PlugSubject,
  unplugAll,
} from "./hotplug-volumes.ts";
