import { NodeAgentError } from "./node-agent-error.ts";

/** A UID that can be the name of a file. Throws a {@link NodeAgentError} otherwise. */
export function checkUid(uid: unknown, field: string): string {
  if (typeof uid === "string" && /^[A-Za-z0-9-]{1,64}$/.test(uid)) return uid;
  const shown = JSON.stringify(uid)?.slice(0, 100);
  const message = `${field} is ${shown}; use a UID: up to 64 letters, digits and "-"`;
  throw new NodeAgentError("AGENT_ARGUMENT", message, { path: field });
}
