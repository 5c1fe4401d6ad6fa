export type { GuestHappening, GuestScript, SimulatedProgram } from "./guest-script.ts";
export {
  MigrationWires,
  type MigrationWiresOptions,
  type WireMessage,
} from "./migration/migration-wires.ts";
export {
  SimulatedMigrations,
  type SimulatedMigrationsOptions,
} from "./migration/simulated-migrations.ts";
export { SimulatedGuest, type SimulatedGuestOptions } from "./simulated-guest.ts";
export type { GuestVerb } from "./verb-calls.ts";
