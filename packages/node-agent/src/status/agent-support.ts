import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { DomainStatus } from "@virtkit/domain-manager";

const required = [
  "guest-ping",
  "guest-get-time",
  "guest-info",
  "guest-shutdown",
  "guest-network-get-interfaces",
  "guest-get-fsinfo",
  "guest-get-host-name",
  "guest-get-users",
  "guest-get-timezone",
  "guest-get-osinfo",
];

/** Either set adds keys to a guest: the commands for keys, or those of older agents. */
const forKeys = [
  [
    "guest-ssh-get-authorized-keys",
    "guest-ssh-add-authorized-keys",
    "guest-ssh-remove-authorized-keys",
  ],
  [
    "guest-exec-status",
    "guest-exec",
    "guest-file-open",
    "guest-file-close",
    "guest-file-read",
    "guest-file-write",
  ],
];

const forPasswords = ["guest-set-user-password"];

/** A guest reports its version; a pattern is not tried on more than this. */
const mostVersion = 64;

/**
 * Why an agent cannot do what the VMI needs, in a sentence; `undefined` if it can. An agent that lists no commands
 * is judged by its version. An agent that has not reported yet is not judged: `"unknown"`.
 */
export function agentShortfall(
  { spec }: VirtualMachineInstance,
  { agentCommands = [], agentVersion = "" }: DomainStatus,
  supportedVersions: readonly string[],
): string | undefined | "unknown" {
  if (agentCommands.length === 0) {
    if (agentVersion === "") return "unknown";
    const version = agentVersion.slice(0, mostVersion);
    const isSupported = supportedVersions.some((pattern) => matches(pattern, version));
    return isSupported ? undefined : `the guest agent's version ${version} is not supported`;
  }
  const has = (commands: readonly string[]): boolean =>
    commands.every((command) => agentCommands.includes(command));
  const credentials = spec.accessCredentials ?? [];
  const needsKeys = credentials.some(
    ({ sshPublicKey }) => sshPublicKey?.propagationMethod.qemuGuestAgent,
  );
  const needsPasswords = credentials.some(
    ({ userPassword }) => userPassword?.propagationMethod.qemuGuestAgent,
  );
  if (!has(required)) return "the guest agent lacks a command that every VMI needs";
  if (needsKeys && !forKeys.some(has)) return "the guest agent cannot add SSH keys";
  return needsPasswords && !has(forPasswords) ? "the guest agent cannot set passwords" : undefined;
}

/** An invalid pattern in the cluster's configuration matches nothing. */
function matches(pattern: string, version: string): boolean {
  try {
    return new RegExp(pattern).test(version);
  } catch {
    // As above: KubeVirt ignores it, too.
    return false;
  }
}
