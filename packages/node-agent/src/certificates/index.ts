export { type CertificateOptions, requestCertificate } from "./request-certificate.ts";
