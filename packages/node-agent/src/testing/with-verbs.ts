import type { SimulatedMigrations } from "@virtkit/testing/hypervisor";
import type { GuestClient } from "../service/node-host.ts";
import type { WorldLauncher } from "./agent-world.ts";

/** A connection of a launcher that can move its guest. Its requests are recorded in `seen`, with whether QEMU encrypts. */
export function withVerbs(
  client: GuestClient,
  migrations: SimulatedMigrations,
  launcher: WorldLauncher,
  seen: string[],
): GuestClient {
  const call =
    <A extends unknown[], T>(name: string, work: (...args: A) => Promise<T>) =>
    async (...args: A): Promise<T> => {
      launcher.calls.push(name);
      return await work(...args);
    };
  return {
    ...client,
    migrate: call("migrate", (request) => {
      seen.push(`send, ${request.tls ? `encrypted to ${request.tls.destination}` : "clear"}`);
      return migrations.migrate(request);
    }),
    receiveMigration: call("receiveMigration", (request) => {
      seen.push(`receive, ${request.encrypted ? "encrypted" : "clear"}`);
      return migrations.receiveMigration(request);
    }),
    followMigration: (request, options) => migrations.followMigration(request, options),
    cancelMigration: call("cancelMigration", (request) => migrations.cancelMigration(request)),
    noteGrant: (request) => migrations.noteGrant(request),
    noteClaim: (request) => migrations.noteClaim(request),
  };
}
