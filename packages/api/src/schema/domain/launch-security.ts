import { boolean, type Empty, object, type Schema, string } from "../schema.ts";

/** Waits at the start until the guest's owner has attested the platform. */
export type SEVAttestation = Empty;

export const SEVAttestationSchema: Schema<SEVAttestation> = object<SEVAttestation>({});

/** What the SEV firmware enforces. */
export interface SEVPolicy {
  /** Encrypts the CPU registers, too (SEV-ES). */
  encryptedState?: boolean;
}

export const SEVPolicySchema: Schema<SEVPolicy> = object<SEVPolicy>({
  encryptedState: boolean,
});

/** AMD Secure Encrypted Virtualization. */
export interface SEV {
  attestation?: SEVAttestation;
  /** The owner's Diffie-Hellman certificate, in base64. */
  dhCert?: string;
  policy?: SEVPolicy;
  /** Session blob for the firmware, in base64. */
  session?: string;
}

export const SEVSchema: Schema<SEV> = object<SEV>({
  attestation: SEVAttestationSchema,
  dhCert: string,
  policy: SEVPolicySchema,
  session: string,
});

/** AMD SEV with secure nested paging. */
export type SEVSNP = Empty;

export const SEVSNPSchema: Schema<SEVSNP> = object<SEVSNP>({});

/** Intel Trust Domain Extensions. */
export type TDX = Empty;

export const TDXSchema: Schema<TDX> = object<TDX>({});

/** Protection of the guest's memory from the host; at most one kind is set. */
export interface LaunchSecurity {
  sev?: SEV;
  snp?: SEVSNP;
  tdx?: TDX;
}

export const LaunchSecuritySchema: Schema<LaunchSecurity> = object<LaunchSecurity>({
  sev: SEVSchema,
  snp: SEVSNPSchema,
  tdx: TDXSchema,
});
