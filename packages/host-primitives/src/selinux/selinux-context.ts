import { HostError } from "../host-error.ts";

/** A security context: `user:role:type:level`. */
export interface SelinuxContext {
  readonly user: string;
  readonly role: string;
  readonly type: string;
  /** Sensitivity and categories, such as `s0:c1,c2`; absent if the policy has none. */
  readonly level?: string;
}

const part = /^[A-Za-z0-9_.-]+$/;
const levelPart = /^[A-Za-z0-9_.,:-]+$/;

/** The label that lets any container use a file. */
export const unprivilegedFileContext: SelinuxContext = {
  user: "system_u",
  role: "object_r",
  type: "container_file_t",
  level: "s0",
};

/** Parses a context. The kernel's trailing NUL is dropped; the level may contain colons. */
export function parseSelinuxContext(text: string): SelinuxContext {
  const bare = text.replace(/\0$/, "");
  const [user = "", role = "", type = "", ...rest] = bare.split(":");
  const level = rest.join(":");
  const valid = [user, role, type].every((word) => part.test(word));
  if (!valid || (rest.length > 0 && !levelPart.test(level))) {
    const message = `${JSON.stringify(bare.slice(0, 200))} is not an SELinux context such as user:role:type:s0:c1,c2`;
    throw new HostError("HOST_FORMAT_INVALID", message, { path: "context" });
  }
  return { user, role, type, ...(rest.length > 0 && { level }) };
}

/** Formats a context. Throws if a part would change the meaning of the others. */
export function formatSelinuxContext({ user, role, type, level }: SelinuxContext): string {
  const text = [user, role, type, ...(level === undefined ? [] : [level])].join(":");
  const again = parseSelinuxContext(text);
  if (again.user === user && again.role === role && again.type === type && again.level === level) {
    return text;
  }
  const message = `${JSON.stringify(text)} is ambiguous; user, role and type must not contain a colon`;
  throw new HostError("HOST_ARGUMENT_INVALID", message, { path: "context" });
}
