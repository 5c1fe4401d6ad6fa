import { amd64 } from "./amd64.ts";
import type { Architecture } from "./architecture.ts";
import { arm64 } from "./arm64.ts";
import { s390x } from "./s390x.ts";

const architectures: Readonly<Record<string, Architecture>> = { amd64, arm64, s390x };

/** The architecture of that name; an unknown one is treated as `amd64`. */
export function architectureOf(name: string): Architecture {
  return (Object.hasOwn(architectures, name) ? architectures[name] : undefined) ?? amd64;
}
