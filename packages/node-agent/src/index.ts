export {
  isNodeAgentError,
  NodeAgentError,
  type NodeAgentErrorCode,
  type NodeAgentErrorOptions,
} from "./node-agent-error.ts";
