export { SeededRandom } from "./seeded-random.ts";
export { VirtualClock } from "./virtual-clock.ts";
