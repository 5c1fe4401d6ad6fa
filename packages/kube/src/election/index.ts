export { Election } from "./election.ts";
export type { ElectionOptions } from "./election-options.ts";
export { fencedClient } from "./fenced-client.ts";
export type { Leadership } from "./leadership.ts";
export { type Lease, type LeaseSpec, leases } from "./lease.ts";
