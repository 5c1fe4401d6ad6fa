export {
  type ManifestDocument,
  type ManifestInput,
  type ManifestLimits,
  type ManifestProblem,
  type Manifests,
  type Position,
  parseManifests,
  readManifests,
} from "./read-manifests.ts";
