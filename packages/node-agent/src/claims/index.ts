export {
  type AnnotatedObject,
  type AnnotationClient,
  AnnotationGrantStore,
} from "./annotation-grant-store.ts";
export type { RunClaim } from "./claim-file.ts";
export { type FiledGrant, FileGrantStore, type GrantCodec } from "./file-grant-store.ts";
export { type Claimant, type ClaimedVmi, type ListedClaims, RunClaims } from "./run-claims.ts";
