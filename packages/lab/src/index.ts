export { guestDisk } from "./guest-disk.ts";
export { type GuestDomainOptions, guestDomainXml } from "./guest-domain.ts";
export { type GuestImage, guestImage } from "./guest-image.ts";
export { isLabError, LabError, type LabErrorCode } from "./lab-error.ts";
export { type Libvirtd, startLibvirtd } from "./libvirtd.ts";
export type { LibvirtdOptions } from "./libvirtd-options.ts";
export { type RunOptions, runProgram } from "./run-program.ts";
export { createSandbox, type Sandbox, type SandboxOptions } from "./sandbox.ts";
