import type { AccessCredential } from "@virtkit/api/schema";
import { part } from "../explain.ts";
import type { Step } from "../pod-draft.ts";

/** Secrets with SSH keys and passwords that the launcher passes to the guest. */
export const accessCredentials: Step = ({ spec, profile, explain }, { volumes, mounts }) => {
  for (const [index, credential] of (spec.accessCredentials ?? []).entries()) {
    const secretName = secretNameOf(credential);
    if (!secretName) continue;
    const name = `${secretName}-access-cred`;
    volumes.push({ name, secret: { secretName } });
    mounts.push({
      name,
      readOnly: true,
      mountPath: `${profile.directories.private}/secret/${name}`,
    });
    explain?.(
      part.volume(name),
      `vmi.spec.accessCredentials[${index}]`,
      "the secret with credentials for the guest",
    );
  }
};

function secretNameOf({ sshPublicKey, userPassword }: AccessCredential): string | undefined {
  const secret = sshPublicKey?.source?.secret ?? userPassword?.source?.secret;
  return secret?.secretName;
}
