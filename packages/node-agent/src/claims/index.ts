export { type Claimant, type ClaimedVmi, type RunClaim, RunClaims } from "./run-claims.ts";
