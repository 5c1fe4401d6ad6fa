export {
  configurationText,
  covers,
  deep,
  everyday,
  everydayFaults,
  guardConfigurations,
} from "./configurations.ts";
export { type GrantModelOptions, grantModel } from "./grant-model.ts";
export { type AnyGuard, partGuards } from "./part-guards.ts";
export { checkText, counterexampleText } from "./report-text.ts";
