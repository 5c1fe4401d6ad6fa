import type { VirtualMachineInstance } from "@virtkit/api/schema";

/** Where the Secret of an access credential is mounted, below the directory of mounted Secrets. */
export function accessCredentialDirectory(secret: string): string {
  return `${secret}-access-cred`;
}

/** Directories of the Secrets that cloud-init data of a VMI comes from. */
export function cloudInitSecretNames({ spec }: VirtualMachineInstance): readonly string[] {
  const volumes = (spec.volumes ?? []).flatMap(
    ({ name, cloudInitNoCloud, cloudInitConfigDrive }) => {
      const source = cloudInitNoCloud ?? cloudInitConfigDrive;
      return source?.secretRef || source?.networkDataSecretRef ? [name] : [];
    },
  );
  const keys = (spec.accessCredentials ?? []).flatMap(({ sshPublicKey }) => {
    const { noCloud, configDrive } = sshPublicKey?.propagationMethod ?? {};
    const secret = sshPublicKey?.source?.secret?.secretName;
    return secret && (noCloud || configDrive) ? [accessCredentialDirectory(secret)] : [];
  });
  return [...new Set([...volumes, ...keys])];
}

/** Directories of the Secrets whose keys and passwords reach the guest through its agent; watch these. */
export function agentSecretNames({ spec }: VirtualMachineInstance): readonly string[] {
  const secrets = (spec.accessCredentials ?? []).flatMap(({ sshPublicKey, userPassword }) =>
    [sshPublicKey, userPassword].flatMap((credential) => {
      const secret = credential?.source?.secret?.secretName;
      return secret && credential?.propagationMethod?.qemuGuestAgent ? [secret] : [];
    }),
  );
  return [...new Set(secrets.map(accessCredentialDirectory))];
}
