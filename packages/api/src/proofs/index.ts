export { type FenceTaint, fencedBootOf, fenceTaint, isFence } from "./fence-taint.ts";
export {
  launcherContainers,
  proofsFromNode,
  proofsFromPod,
} from "./proofs-of-end.ts";
