import { type HostArchitecture, hostArchitecture } from "@virtkit/node-agent/run";

/** Architectures that local mode runs guests of: this host's own. */
export type LocalArchitecture = HostArchitecture;

/** This host's architecture, as VMIs name it. */
export const localArchitecture: LocalArchitecture = hostArchitecture ?? "amd64";
