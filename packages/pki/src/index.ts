export type { AuthorityStore, StoredAuthorities } from "./authority-store.ts";
export {
  type AuthorityOptions,
  CertificateAuthority,
  type IssueOptions,
} from "./certificate-authority.ts";
export {
  type CertificateRequest,
  createCertificateRequest,
  type RequestFacts,
  readCertificateRequest,
} from "./certificate-request.ts";
export type { Credentials } from "./credentials.ts";
export { FileAuthorityStore } from "./file-authority-store.ts";
export {
  apiServerIdentity,
  describeIdentity,
  type Expectation,
  type Identity,
  type MigrationSide,
  migrationIdentity,
  nodeAgentIdentity,
  vsockIdentity,
} from "./identity.ts";
export { isPkiError, PkiError, type PkiErrorCode, type PkiErrorOptions } from "./pki-error.ts";
export type { RotationPolicy } from "./plan-rotation.ts";
export { type QemuTlsFile, qemuTlsFiles } from "./qemu-tls-files.ts";
export { type CertificateFacts, type Purpose, readCertificate } from "./read-certificate.ts";
export { type RenewalOptions, RenewedCredentials } from "./renewed-credentials.ts";
export {
  clientTlsOptions,
  type PeerOptions,
  peerIdentity,
  serverTlsOptions,
  type TlsCredentials,
} from "./tls-options.ts";
export { type VerifyOptions, verifyCertificate } from "./verify-certificate.ts";
