import { printable } from "../../agent/agent-reply.ts";
import { DiskError } from "../disk-error.ts";
import type { AccessAgent } from "./access-agent.ts";
import { writeAuthorizedKeys } from "./authorized-keys-file.ts";
import type { AccessPlan, AccessStep } from "./plan-access.ts";

/** The outcome, for the VMI's condition `AccessCredentialsSynchronized`. */
export interface AccessResult {
  readonly succeeded: boolean;
  /** What failed, without any key or password. Empty if nothing did. */
  readonly message: string;
}

/**
 * Carries out the plan through the guest's agent. A failed step does not prevent the others. The
 * message contains no secret, even if the agent repeats one.
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
    // The result reports it, in KubeVirt's words.
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

/** An error's message without the secrets of the step, which the agent may have repeated. */
function redacted(error: unknown, step: AccessStep): string {
  const secrets = step.kind === "keys" ? step.keys : [step.password];
  const text = secrets
    .flatMap((secret) => forms(secret.reveal()))
    .reduce((rest, form) => rest.replaceAll(form, "[secret]"), textOf(error));
  return text.slice(0, longestMessage);
}

/** The forms in which an agent may repeat a string. */
function forms(secret: string): string[] {
  const escaped = JSON.stringify(secret).slice(1, -1);
  const shown = printable(secret, secret.length);
  return [secret, escaped, shown, Buffer.from(secret).toString("base64")].filter(Boolean);
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : "the agent failed";
}
