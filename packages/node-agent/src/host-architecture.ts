/** Architectures of guests and of the hosts that run them, as VMIs name them. */
export type HostArchitecture = "amd64" | "arm64" | "s390x";

const architectures: Readonly<Record<string, HostArchitecture>> = {
  x64: "amd64",
  arm64: "arm64",
  s390x: "s390x",
};

/** This host's architecture; undefined for one that guests do not have. */
export const hostArchitecture: HostArchitecture | undefined = architectures[process.arch];
