export {
  type Claimant,
  type ClaimedVmi,
  type ListedClaims,
  type RunClaim,
  RunClaims,
  type RunClaimsOptions,
} from "./run-claims.ts";
