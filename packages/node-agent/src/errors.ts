export {
  isNodeAgentError,
  NodeAgentError,
  type NodeAgentErrorCode,
  type NodeAgentErrorOptions,
} from "./node-agent-error.ts";
export type { Refusal } from "./refusal.ts";
