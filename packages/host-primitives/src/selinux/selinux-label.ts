import { HostError, hasErrno } from "../host-error.ts";
import type { SafePath } from "../safe-path/safe-path.ts";
import {
  formatSelinuxContext,
  parseSelinuxContext,
  type SelinuxContext,
} from "./selinux-context.ts";
import { type SelinuxState, selinuxState } from "./selinux-state.ts";

const attribute = "security.selinux";

/** The label of exactly this object; undefined if it has none. */
export function readLabel(path: SafePath): SelinuxContext | undefined {
  const value = path.getAttribute(attribute);
  return value === undefined ? undefined : parseSelinuxContext(value.toString("latin1"));
}

/** What {@link setLabel} did. */
export type LabelResult = "set" | "selinux-disabled" | "not-supported";

/**
 * Labels exactly this object. If SELinux is off, does nothing and says so in the result. The same
 * if the file system keeps no labels, unless SELinux is enforcing: then that is an error.
 */
export function setLabel(
  path: SafePath,
  context: SelinuxContext,
  state: SelinuxState = selinuxState(),
): LabelResult {
  if (state === "disabled") return "selinux-disabled";
  const value = Buffer.from(`${formatSelinuxContext(context)}\0`, "latin1");
  try {
    path.setAttribute(attribute, value);
    return "set";
  } catch (error) {
    if (hasErrno(error, "EOPNOTSUPP") && state === "permissive") return "not-supported";
    throw HostError.from(error, path.description);
  }
}
