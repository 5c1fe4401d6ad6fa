export { type CertificateNames, certificateNames } from "./certificate-names.ts";
export type { Directories, RootDirectories } from "./directories.ts";
export { type Names, type NamesOptions, names } from "./names.ts";
export type { Sockets } from "./sockets.ts";
export { cdiGroup } from "./well-known.ts";
