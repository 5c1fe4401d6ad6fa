export type { GuestCheck, GuestCheckContext } from "./guest-check.ts";
export { guestControlChecks } from "./guest-control-checks.ts";
