export {
  type AgentInfo,
  agentLimits,
  type GuestTimezone,
  readAgentInfo,
  readFileSystems,
  readFsFreeze,
} from "./agent-answers.ts";
export { AgentReply } from "./agent-reply.ts";
export { type ExecOptions, GuestAgent, type GuestAgentOptions } from "./guest-agent.ts";
