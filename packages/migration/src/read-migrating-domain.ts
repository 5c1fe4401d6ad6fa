import { type Domain, isConverterError, parseDomain } from "@virtkit/converter";
import { MigrationError } from "./migration-error.ts";

/**
 * Reads the XML of a domain that is to move. Its length, depth and number of elements are bounded, and
 * a document type is refused.
 *
 * @throws MigrationError `MIGRATION_XML_INVALID`
 */
export function readMigratingDomain(xml: string, path: string): Domain {
  return wrapXmlError(path, () => parseDomain(xml));
}

/** Runs what reads or changes a domain's XML; the error says in which document. */
export function wrapXmlError<T>(document: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (!isConverterError(cause)) throw cause;
    const path = cause.path ? `${document}: ${cause.path}` : document;
    const message = `${document}: ${cause.message}`;
    throw new MigrationError("MIGRATION_XML_INVALID", message, { path, cause });
  }
}
