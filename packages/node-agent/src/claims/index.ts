export {
  type Claimant,
  type ClaimedVmi,
  type ListedClaims,
  type RunClaim,
  RunClaims,
} from "./run-claims.ts";
