import { array, type Empty, object, required, type Schema, string } from "../schema.ts";

/** As metadata on the config drive, at boot. */
export type ConfigDriveSSHPublicKeyAccessCredentialPropagation = Empty;

export const ConfigDriveSSHPublicKeyAccessCredentialPropagationSchema: Schema<ConfigDriveSSHPublicKeyAccessCredentialPropagation> =
  object<ConfigDriveSSHPublicKeyAccessCredentialPropagation>({});

/** As metadata on the NoCloud disk, at boot. */
export type NoCloudSSHPublicKeyAccessCredentialPropagation = Empty;

export const NoCloudSSHPublicKeyAccessCredentialPropagationSchema: Schema<NoCloudSSHPublicKeyAccessCredentialPropagation> =
  object<NoCloudSSHPublicKeyAccessCredentialPropagation>({});

/** Through the guest agent, while the guest runs. */
export interface QemuGuestAgentSSHPublicKeyAccessCredentialPropagation {
  /** Users who get the keys. */
  users: string[];
}

export const QemuGuestAgentSSHPublicKeyAccessCredentialPropagationSchema: Schema<QemuGuestAgentSSHPublicKeyAccessCredentialPropagation> =
  object<QemuGuestAgentSSHPublicKeyAccessCredentialPropagation>({
    users: required(array(string, { listType: "set" })),
  });

/** How the keys are delivered; exactly one is set. */
export interface SSHPublicKeyAccessCredentialPropagationMethod {
  configDrive?: ConfigDriveSSHPublicKeyAccessCredentialPropagation;
  noCloud?: NoCloudSSHPublicKeyAccessCredentialPropagation;
  qemuGuestAgent?: QemuGuestAgentSSHPublicKeyAccessCredentialPropagation;
}

export const SSHPublicKeyAccessCredentialPropagationMethodSchema: Schema<SSHPublicKeyAccessCredentialPropagationMethod> =
  object<SSHPublicKeyAccessCredentialPropagationMethod>({
    configDrive: ConfigDriveSSHPublicKeyAccessCredentialPropagationSchema,
    noCloud: NoCloudSSHPublicKeyAccessCredentialPropagationSchema,
    qemuGuestAgent: QemuGuestAgentSSHPublicKeyAccessCredentialPropagationSchema,
  });

/** A Secret in the VMI's namespace. */
export interface AccessCredentialSecretSource {
  /** Each key in it is a user's password, or a public key. */
  secretName: string;
}

export const AccessCredentialSecretSourceSchema: Schema<AccessCredentialSecretSource> =
  object<AccessCredentialSecretSource>({
    secretName: required(string),
  });

/** Where the keys come from. */
export interface SSHPublicKeyAccessCredentialSource {
  secret?: AccessCredentialSecretSource;
}

export const SSHPublicKeyAccessCredentialSourceSchema: Schema<SSHPublicKeyAccessCredentialSource> =
  object<SSHPublicKeyAccessCredentialSource>({
    secret: AccessCredentialSecretSourceSchema,
  });

/** Public keys for SSH. */
export interface SSHPublicKeyAccessCredential {
  propagationMethod: SSHPublicKeyAccessCredentialPropagationMethod;
  source: SSHPublicKeyAccessCredentialSource;
}

export const SSHPublicKeyAccessCredentialSchema: Schema<SSHPublicKeyAccessCredential> =
  object<SSHPublicKeyAccessCredential>({
    propagationMethod: required(SSHPublicKeyAccessCredentialPropagationMethodSchema),
    source: required(SSHPublicKeyAccessCredentialSourceSchema),
  });

/** Through the guest agent, while the guest runs. */
export type QemuGuestAgentUserPasswordAccessCredentialPropagation = Empty;

export const QemuGuestAgentUserPasswordAccessCredentialPropagationSchema: Schema<QemuGuestAgentUserPasswordAccessCredentialPropagation> =
  object<QemuGuestAgentUserPasswordAccessCredentialPropagation>({});

/** How the passwords are delivered. */
export interface UserPasswordAccessCredentialPropagationMethod {
  qemuGuestAgent?: QemuGuestAgentUserPasswordAccessCredentialPropagation;
}

export const UserPasswordAccessCredentialPropagationMethodSchema: Schema<UserPasswordAccessCredentialPropagationMethod> =
  object<UserPasswordAccessCredentialPropagationMethod>({
    qemuGuestAgent: QemuGuestAgentUserPasswordAccessCredentialPropagationSchema,
  });

/** Where the passwords come from. */
export interface UserPasswordAccessCredentialSource {
  secret?: AccessCredentialSecretSource;
}

export const UserPasswordAccessCredentialSourceSchema: Schema<UserPasswordAccessCredentialSource> =
  object<UserPasswordAccessCredentialSource>({
    secret: AccessCredentialSecretSourceSchema,
  });

/** Passwords of users. */
export interface UserPasswordAccessCredential {
  propagationMethod: UserPasswordAccessCredentialPropagationMethod;
  source: UserPasswordAccessCredentialSource;
}

export const UserPasswordAccessCredentialSchema: Schema<UserPasswordAccessCredential> =
  object<UserPasswordAccessCredential>({
    propagationMethod: required(UserPasswordAccessCredentialPropagationMethodSchema),
    source: required(UserPasswordAccessCredentialSourceSchema),
  });

/** Credentials for the guest; one kind is set. */
export interface AccessCredential {
  sshPublicKey?: SSHPublicKeyAccessCredential;
  userPassword?: UserPasswordAccessCredential;
}

export const AccessCredentialSchema: Schema<AccessCredential> = object<AccessCredential>({
  sshPublicKey: SSHPublicKeyAccessCredentialSchema,
  userPassword: UserPasswordAccessCredentialSchema,
});
