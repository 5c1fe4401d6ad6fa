import type { Names } from "./names.ts";

/** Names that requesters and signers of certificates share. */
export interface CertificateNames {
  /** `spec.signerName` of a CertificateSigningRequest. */
  readonly signer: string;
  /** The annotation of a request that names the migration: `NAMESPACE/NAME`. A hint that is checked. */
  readonly migration: string;
  /** The ConfigMap with the trusted authorities in the platform's namespace, and its field. */
  readonly bundle: { readonly name: string; readonly field: string };
  /** The trust domain of a platform that does not set one. */
  readonly trustDomain: string;
}

/** The names of a platform's certificates. */
export function certificateNames({ own }: Pick<Names, "own">): CertificateNames {
  return {
    signer: own("components"),
    migration: own("migration"),
    bundle: { name: "virtkit-ca", field: "ca-bundle" },
    trustDomain: "cluster.local",
  };
}
