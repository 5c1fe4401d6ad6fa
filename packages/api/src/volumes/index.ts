export { blockVolumes, isBlockClaim } from "./block-volumes.ts";
