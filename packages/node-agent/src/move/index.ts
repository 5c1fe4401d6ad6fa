export { type FollowedSide, followSide, makeKnown } from "./follow-side.ts";
