import type { AccessCredential, VirtualMachineInstance } from "@virtkit/api/schema";
import { DiskError, isDiskError } from "../disk-error.ts";
import { guardVmi } from "../guard-vmi.ts";
import { accessCredentialDirectory } from "../mounted-secret-names.ts";
import { type MountedSecrets, topLevelFiles } from "../mounted-secrets.ts";
import { Sealed } from "../sealed.ts";

/** One instruction for the guest's agent. Printable: keys and passwords are sealed. */
export type AccessStep =
  /** The only keys that open the user's account. */
  | { readonly kind: "keys"; readonly user: string; readonly keys: readonly Sealed<string>[] }
  | { readonly kind: "password"; readonly user: string; readonly password: Sealed<string> };

/** Instructions for the guest's agent, and the reasons why others are missing. */
export interface AccessPlan {
  readonly steps: readonly AccessStep[];
  readonly faults: readonly DiskError[];
}

/**
 * Plans the SSH keys and passwords that reach a guest through its agent.
 *
 * A user's keys come from all Secrets that name the user, one per line. If one of them is not
 * mounted, or a user name is invalid, that user is left alone: keys are not removed because a
 * Secret is missing.
 */
export function planAccess(vmi: VirtualMachineInstance, secrets: MountedSecrets): AccessPlan {
  return guardVmi(vmi, () => plan(vmi, secrets));
}

function plan({ spec }: VirtualMachineInstance, secrets: MountedSecrets): AccessPlan {
  const parts = (spec.accessCredentials ?? []).flatMap((credential, at) =>
    partsOf(credential, secrets, `spec.accessCredentials[${at}]`),
  );
  const unsure = new Set(parts.flatMap((part) => (part.kind === "fault" ? part.users : [])));
  const keys = new Map<string, Sealed<string>[]>();
  const passwords = new Map<string, Sealed<string>>();
  for (const part of parts) {
    if (part.kind === "password") passwords.set(part.user, part.password);
    if (part.kind !== "keys" || unsure.has(part.user)) continue;
    keys.set(part.user, [...(keys.get(part.user) ?? []), ...part.keys]);
  }
  const steps: AccessStep[] = [
    ...[...keys].map(([user, list]) => ({ kind: "keys", user, keys: list }) as const),
    ...[...passwords].map(([user, password]) => ({ kind: "password", user, password }) as const),
  ];
  const badNames = steps.filter(({ user }) => !isUserName(user));
  return {
    steps: steps.filter(({ user }) => isUserName(user)),
    faults: [
      ...parts.flatMap((part) => (part.kind === "fault" ? [part.error] : [])),
      ...badNames.map(({ user }) => badUser(user)),
    ],
  };
}

/** What one credential adds to the plan. */
type Part =
  | AccessStep
  | { readonly kind: "fault"; readonly error: DiskError; readonly users: readonly string[] };

function partsOf(credential: AccessCredential, secrets: MountedSecrets, path: string): Part[] {
  const wanted = wish(credential);
  if (!wanted) return [];
  const files = readFiles(secrets, wanted.directory, path);
  if (isDiskError(files)) return [{ kind: "fault", error: files, users: wanted.users }];
  if (wanted.kind === "keys") {
    const keys = files.flatMap(([, text]) => linesOf(text));
    return wanted.users.map((user) => ({ kind: "keys", user, keys }));
  }
  return files
    .map(([user, text]) => [user, text.trim()] as const)
    .filter(([, text]) => text !== "")
    .map(([user, text]) => ({ kind: "password", user, password: new Sealed(text) }));
}

/** The texts of a Secret by file, or why they are unavailable. */
function readFiles(
  secrets: MountedSecrets,
  directory: string,
  path: string,
): DiskError | readonly (readonly [string, string])[] {
  try {
    return topLevelFiles(secrets, directory, path).map(([name, content]) => [
      name,
      textOf(content),
    ]);
  } catch (error) {
    if (isDiskError(error)) return error;
    throw error;
  }
}

interface Wanted {
  readonly kind: "keys" | "passwords";
  readonly directory: string;
  readonly users: readonly string[];
}

/** What a credential asks of the agent; undefined if it does not go through the agent. */
function wish({ sshPublicKey, userPassword }: AccessCredential): Wanted | undefined {
  const agent = sshPublicKey?.propagationMethod?.qemuGuestAgent;
  if (agent) {
    const secret = sshPublicKey?.source?.secret?.secretName;
    const users = agent.users ?? [];
    return secret
      ? { kind: "keys", directory: accessCredentialDirectory(secret), users }
      : undefined;
  }
  const secret = userPassword?.source?.secret?.secretName;
  if (!secret || !userPassword?.propagationMethod?.qemuGuestAgent) return undefined;
  return { kind: "passwords", directory: accessCredentialDirectory(secret), users: [] };
}

function textOf(content: Sealed<Uint8Array>): string {
  return new TextDecoder().decode(content.reveal());
}

function linesOf(text: string): Sealed<string>[] {
  const lines = text.split("\n").map((line) => line.trim());
  return lines.filter((line) => line !== "").map((line) => new Sealed(line));
}

/** A name that a program in the guest mistakes neither for an option nor for a path. */
function isUserName(user: string): boolean {
  return /^[^\s:/\p{Cc}-][^\s:/\p{Cc}]{0,255}$/u.test(user);
}

function badUser(user: string): DiskError {
  const shown = JSON.stringify(user.slice(0, 60));
  const path = "spec.accessCredentials";
  return new DiskError("DISK_VMI_INVALID", `${path}: ${shown} is not a user name`, { path });
}
