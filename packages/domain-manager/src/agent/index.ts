export { type AgentInfo, agentLimits, type GuestTimezone } from "./agent-answers.ts";
export type { AgentReply } from "./agent-reply.ts";
export { type ExecOptions, GuestAgent, type GuestAgentOptions } from "./guest-agent.ts";
