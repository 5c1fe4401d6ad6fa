/** Architectures that local mode runs guests of: this host's own. */
export type LocalArchitecture = "amd64" | "arm64";

/** This host's architecture, as VMIs name it. */
export const localArchitecture: LocalArchitecture = process.arch === "arm64" ? "arm64" : "amd64";
