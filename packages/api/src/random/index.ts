export { type Random, realRandom } from "./random.ts";
