import { isObject } from "@virtkit/api/shape";
import { MigrationError } from "../migration-error.ts";

/** Which handover a file, a message or a copy belongs to. All four fields must agree. */
export interface MigrationIdentity {
  readonly migrationUID: string;
  readonly vmiUID: string;
  /** From the grant while it is `HandingOver`. */
  readonly epoch: number;
  readonly seq: number;
}

const uid = /^[A-Za-z0-9][A-Za-z0-9-]{0,63}$/;

/** Reads an identity that somebody else wrote. The UID becomes the name of a folder. */
export function checkIdentity(value: unknown, path: string): MigrationIdentity {
  const { migrationUID, vmiUID, epoch, seq } = isObject(value) ? value : {};
  for (const [name, found] of Object.entries({ migrationUID, vmiUID })) {
    if (typeof found !== "string" || !uid.test(found)) {
      throw wrong(`${path}.${name}`, "a UID made of letters, digits and hyphens");
    }
  }
  for (const [name, found] of Object.entries({ epoch, seq })) {
    if (!Number.isSafeInteger(found) || (found as number) < 0) {
      throw wrong(`${path}.${name}`, "an integer of at least 0");
    }
  }
  return { migrationUID, vmiUID, epoch, seq } as MigrationIdentity;
}

/** Throws if a message belongs to another handover; the error names the first field that differs. */
export function assertSameMigration(expected: MigrationIdentity, found: MigrationIdentity): void {
  for (const field of ["migrationUID", "vmiUID", "epoch", "seq"] as const) {
    if (expected[field] === found[field]) continue;
    const message = `${field} is ${JSON.stringify(found[field])}, but this handover has ${JSON.stringify(expected[field])}; nothing was changed`;
    throw new MigrationError("MIGRATION_REFUSED", message, { path: field });
  }
}

function wrong(path: string, wanted: string): MigrationError {
  return new MigrationError("MIGRATION_INPUT_INVALID", `${path} must be ${wanted}`, { path });
}
