export { type GrantModelOptions, grantModel } from "./grant-model.ts";
export { type AnyGuard, partGuards } from "./world.ts";
