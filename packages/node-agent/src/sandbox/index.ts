export {
  currentBootId,
  hasEnded,
  identityOf,
  isProcessIdentity,
  type ProcessIdentity,
} from "./process-identity.ts";
export { type ContainerRoot, openSandbox, type Sandbox, type SandboxPlace } from "./sandbox.ts";
