export { agentSecretNames } from "../mounted-secret-names.ts";
export type { AccessAgent } from "./access-agent.ts";
export { type AccessResult, applyAccess } from "./apply-access.ts";
export { type AccessPlan, type AccessStep, planAccess } from "./plan-access.ts";
export { qemuAccessAgent } from "./qemu-access-agent.ts";
