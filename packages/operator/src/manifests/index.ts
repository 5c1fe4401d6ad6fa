export { apiServerRules } from "./api-server-rules.ts";
export { controllerRules } from "./controller-rules.ts";
export type { Installation } from "./installation.ts";
export { manifests } from "./manifests.ts";
