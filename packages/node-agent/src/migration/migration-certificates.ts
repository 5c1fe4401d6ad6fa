import { type Identity, migrationIdentity } from "@virtkit/pki";
import {
  type CertificateOptions,
  requestCertificate,
} from "../certificates/request-certificate.ts";
import type { MigrationService } from "./migration-service.ts";

/**
 * Certificates for migrations, by request: each is requested when its side begins, and ends with it. A migration
 * may outlast its certificate, because connections are verified when they are made.
 */
export function migrationCertificates(
  options: Pick<CertificateOptions, "client" | "namespace" | "names" | "log" | "trustDomain">,
): MigrationService["credentials"] {
  return async ({ migrationUID, side, migration }, { signal }) => {
    const identity: Identity = migrationIdentity(migrationUID, side);
    using renewed = await requestCertificate({ ...options, identity, migration, signal });
    return renewed.current;
  };
}
