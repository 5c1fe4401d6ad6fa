export { type FollowedSide, followSide, makeKnown } from "./follow-side.ts";
export { isUnknownMigration } from "./is-unknown-migration.ts";
