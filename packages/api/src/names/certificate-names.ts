import type { Names } from "./names.ts";

/** Names that requesters and signers of certificates share. */
export interface CertificateNames {
  /** `spec.signerName` of a CertificateSigningRequest. */
  readonly signer: string;
  /** The annotation of a request that says where the migration is: `NAMESPACE/NAME`. A hint, which is checked. */
  readonly migration: string;
  /** The ConfigMap in the platform's namespace that says who is trusted, and its field. */
  readonly bundle: { readonly name: string; readonly field: string };
  /** The trust domain of a platform that names no other. */
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
