import type { AccessCredential, VirtualMachineInstanceSpec } from "../schema/index.ts";
import { type Cause, countSet, each, fine, invalid, join } from "./cause.ts";

/** Keys and passwords for the guest: each from one Secret, delivered in one supported way. */
export function accessCredentials(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  const all = spec.accessCredentials;
  if (!all?.length) return fine;
  const media: Media = {
    noCloud: spec.volumes?.some((volume) => volume.cloudInitNoCloud) ?? false,
    configDrive: spec.volumes?.some((volume) => volume.cloudInitConfigDrive) ?? false,
  };
  return each(all, (credential, i) => {
    const field = `${at}.accessCredentials[${i}]`;
    return join(
      sshKey(credential.sshPublicKey, `${field}.sshPublicKey`, media),
      password(credential.userPassword, `${field}.userPassword`),
      countSet(credential.sshPublicKey, credential.userPassword) === 1
        ? fine
        : invalid(field, "must have one of sshPublicKey, userPassword"),
    );
  });
}

interface Media {
  readonly noCloud: boolean;
  readonly configDrive: boolean;
}

function sshKey(
  key: AccessCredential["sshPublicKey"],
  field: string,
  media: Media,
): readonly Cause[] {
  if (!key) return fine;
  const method = key.propagationMethod;
  const { noCloud, configDrive, qemuGuestAgent } = method;
  const at = `${field}.propagationMethod`;
  return join(
    noCloud && !media.noCloud
      ? invalid(at, "is noCloud, but no volume is cloudInitNoCloud; add one")
      : fine,
    configDrive && !media.configDrive
      ? invalid(at, "is configDrive, but no volume is cloudInitConfigDrive; add one")
      : fine,
    qemuGuestAgent && !qemuGuestAgent.users?.length
      ? invalid(`${at}.qemuGuestAgent.users`, "is empty; name the users who get the keys")
      : fine,
    oneSource(key.source.secret, `${field}.source`),
    countSet(noCloud, configDrive, qemuGuestAgent) === 1
      ? fine
      : invalid(at, "must have one of noCloud, configDrive, qemuGuestAgent"),
  );
}

function password(user: AccessCredential["userPassword"], field: string): readonly Cause[] {
  if (!user) return fine;
  return join(
    oneSource(user.source.secret, `${field}.source`),
    user.propagationMethod.qemuGuestAgent
      ? fine
      : invalid(`${field}.propagationMethod`, "must have qemuGuestAgent"),
  );
}

function oneSource(secret: unknown, field: string): readonly Cause[] {
  return secret ? fine : invalid(field, "must have secret");
}
