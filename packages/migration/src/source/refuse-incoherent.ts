import type { Domain } from "@virtkit/converter";
import { nameOfAlias } from "@virtkit/converter/model";
import { MigrationError } from "../migration-error.ts";

/** With these, no disk data stays in a host's memory. */
const coherent: readonly string[] = ["none", "directsync"];

/**
 * Refuses to move a guest whose disk both hosts reach and whose writes a host may keep in its page cache: the
 * target would read what was there before. Disks that the guest cannot write to, and disks that are copied,
 * do not matter.
 *
 * @throws MigrationError `MIGRATION_DISK_INCOHERENT` that names the disk and its cache mode.
 */
export function refuseIncoherent(
  { devices }: Pick<Domain, "devices">,
  copied: readonly string[],
): void {
  const found = devices.disks.find(
    ({ type, device, readonly, shareable, driver, target }) =>
      (type === "file" || type === "block") &&
      device !== "cdrom" &&
      !readonly &&
      !shareable &&
      !copied.includes(target.dev ?? "") &&
      !coherent.includes(driver?.cache ?? ""),
  );
  if (!found) return;
  const name = nameOfAlias(found.alias) ?? found.target.dev ?? "a disk";
  const cache = found.driver?.cache ?? "the default";
  const path = `domain.devices.disk[${found.target.dev ?? name}]`;
  const message = `${path}: the cache mode of ${name} is ${cache}, so its host may hold writes that the target does not see; use cache: none on storage that supports direct I/O, or allow it (unsafeMigrationOverride)`;
  throw new MigrationError("MIGRATION_DISK_INCOHERENT", message, { path });
}
