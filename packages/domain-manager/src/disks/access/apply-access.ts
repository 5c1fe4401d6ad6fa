import { printable } from "../../agent/agent-reply.ts";
import { DiskError } from "../disk-error.ts";
import type { AccessAgent } from "./access-agent.ts";
import { writeAuthorizedKeys } from "./authorized-keys-file.ts";
import type { AccessPlan, AccessStep } from "./plan-access.ts";

/** How it went; what the VMI's condition `AccessCredentialsSynchronized` says. */
export interface AccessResult {
  readonly succeeded: boolean;
  /** What failed, without any key or password. Empty if nothing did. */
  readonly message: string;
}

/**
 * Tells the guest's agent what was planned. A step that fails does not keep the others from being tried.
 * The message holds no secret, though the agent repeats it.
 *
 * @example
 * ```ts
 * const secrets = await readSecrets(new DiskPaths().secrets, agentSecretNames(vmi));
 * const { succeeded, message } = await applyAccess(planAccess(vmi, secrets), qemuAccessAgent(agent));
 * ```
 */
export async function applyAccess(
  { steps, faults }: AccessPlan,
  agent: AccessAgent,
): Promise<AccessResult> {
  try {
    await agent.ping();
  } catch {
    // The result says so, in KubeVirt's words.
    return { succeeded: false, message: "Guest agent is offline" };
  }
  const messages = faults.map(({ message }) => message);
  for (const step of steps) {
    try {
      await applyStep(step, agent);
    } catch (error) {
      const what = step.kind === "keys" ? "SSH keys" : "password";
      messages.push(`${what} of user ${step.user}: ${redacted(error, step)}`);
    }
  }
  return { succeeded: messages.length === 0, message: messages.join("; ") };
}

async function applyStep(step: AccessStep, agent: AccessAgent): Promise<void> {
  if (step.kind === "password") {
    return await agent.setUserPassword(step.user, step.password.reveal());
  }
  const keys = step.keys.map((key) => key.reveal());
  try {
    await agent.setAuthorizedKeys(step.user, keys);
  } catch (first) {
    try {
      await writeAuthorizedKeys(agent, step.user, keys);
    } catch (second) {
      throw new DiskError("DISK_AGENT", `${textOf(first)}; by writing the file: ${textOf(second)}`);
    }
  }
}

const longestMessage = 300;

/** What an error says, without the secrets of the step: the agent may have repeated them. */
function redacted(error: unknown, step: AccessStep): string {
  const secrets = step.kind === "keys" ? step.keys : [step.password];
  const text = secrets
    .flatMap((secret) => forms(secret.reveal()))
    .reduce((rest, form) => rest.replaceAll(form, "[secret]"), textOf(error));
  return text.slice(0, longestMessage);
}

/** The ways in which an agent may repeat a text. */
function forms(secret: string): string[] {
  const escaped = JSON.stringify(secret).slice(1, -1);
  const shown = printable(secret, secret.length);
  return [secret, escaped, shown, Buffer.from(secret).toString("base64")].filter(Boolean);
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : "the agent failed";
}
