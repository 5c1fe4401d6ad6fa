export {
  fencedBootAnnotation,
  launcherContainers,
  proofsFromNode,
  proofsFromPod,
} from "./proofs-of-end.ts";
