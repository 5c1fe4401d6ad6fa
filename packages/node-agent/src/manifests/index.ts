export {
  type ManifestDocument,
  type ManifestLimits,
  type ManifestProblem,
  type Manifests,
  type Position,
  parseManifests,
} from "./parse-manifests.ts";
export { type ManifestInput, readManifests } from "./read-manifests.ts";
