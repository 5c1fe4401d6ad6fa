export type { GuestHappening, GuestScript, SimulatedProgram } from "./guest-script.ts";
export { SimulatedGuest, type SimulatedGuestOptions } from "./simulated-guest.ts";
export type { GuestVerb } from "./verb-calls.ts";
