export { isPkiError, PkiError, type PkiErrorCode, type PkiErrorOptions } from "./pki-error.ts";
