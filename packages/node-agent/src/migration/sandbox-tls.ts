import type { Names } from "@virtkit/api/names";
import { hasErrno } from "@virtkit/host-primitives";
import { removeFile, replaceFile, type SafePath } from "@virtkit/host-primitives/safe-path";
import { type Credentials, type MigrationSide, qemuTlsFiles } from "@virtkit/pki";
import { NodeAgentError } from "../node-agent-error.ts";
import { defaultOwner } from "../prepare/plan-preparation.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";

type Place = Pick<Sandbox, "root" | "podUid">;

/** Every file name that QEMU looks for, on either side. */
const fileNames = ["ca-cert", "server-cert", "server-key", "client-cert", "client-key"].map(
  (name) => `${name}.pem`,
);

/**
 * Puts the certificate of one side of a migration where QEMU of that sandbox reads it. The directory belongs
 * to the launcher: a link or anything else in place of a file is replaced, and not followed.
 *
 * @throws a `NodeAgentError` `AGENT_CERTIFICATE` if the launcher has no such directory, and so could not
 *   encrypt.
 */
export function placeTlsFiles(
  place: Place,
  names: Names,
  side: MigrationSide,
  credentials: Credentials,
): void {
  using folder = openFolder(place, names);
  if (!folder) {
    const { migrationTls: path } = names.directories;
    const message = `the launcher of Pod ${place.podUid} cannot encrypt its QEMU's data, because it has no ${path}: it is from an earlier release; restart its VM, or set disableTLS in the migration configuration`;
    throw new NodeAgentError("AGENT_CERTIFICATE", message, { path });
  }
  for (const { name, content } of qemuTlsFiles(credentials, side)) {
    replaceFile(folder, name, content, { mode: 0o600, owner: defaultOwner });
  }
}

/**
 * Removes what {@link placeTlsFiles} has put there, in this or an earlier process of the agent. May be repeated.
 */
export function removeTlsFiles(place: Place, names: Names): void {
  using folder = openFolder(place, names);
  if (!folder) return;
  for (const name of fileNames) {
    try {
      removeFile(folder, name);
    } catch (error) {
      // What the launcher itself has put in place of a file is not our key.
      if (!["ENOENT", "EISDIR", "EPERM"].some((code) => hasErrno(error, code))) throw error;
    }
  }
}

function openFolder({ root }: Place, { directories }: Names): SafePath | undefined {
  try {
    return root.resolve(directories.migrationTls, "directory");
  } catch (error) {
    if (hasErrno(error, "ENOENT")) return undefined;
    throw error;
  }
}
