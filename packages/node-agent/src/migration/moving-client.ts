import type { GuestClient, MovingClient } from "../service/node-host.ts";

const verbs = [
  "cancelMigration",
  "followMigration",
  "migrate",
  "noteClaim",
  "noteGrant",
  "receiveMigration",
] as const satisfies readonly (keyof MovingClient)[];

/** A connection whose launcher can move guests; undefined if there is none, or it cannot. */
export function movingClient(client: GuestClient | undefined): MovingClient | undefined {
  return client && verbs.every((verb) => verb in client) ? (client as MovingClient) : undefined;
}
