import { HostError } from "../host-error.ts";

const maxNameBytes = 255;
const maxPathBytes = 4096;

function refuse(path: string, problem: string): never {
  throw new HostError("HOST_PATH_UNSAFE", `${JSON.stringify(path)} ${problem}`, { path });
}

/**
 * Checks that `name` is one component. Refuses what could mean anything else: the empty name, `.`,
 * `..`, a slash, a NUL, or over 255 bytes.
 */
export function entryName(name: string): string {
  if (name === "" || name === "." || name === "..")
    refuse(name, "is not the name of a directory entry");
  if (name.includes("/"))
    refuse(name, "has a slash; give one component and open its directory first");
  if (name.includes("\0")) refuse(name, "contains a NUL character");
  if (Buffer.byteLength(name) > maxNameBytes) refuse(name, `is over ${maxNameBytes} bytes long`);
  return name;
}

/**
 * A path below a root, in two parts. `parent` is resolved inside the root, `name` is never
 * followed.
 */
export interface RelativePath {
  readonly parent: string;
  readonly name: string;
}

/**
 * Splits a path below a root; a leading slash means the root. A path that ends in a slash, `.` or
 * `..` is refused, because the kernel would follow the component before it. `..` among the parents
 * is left to the kernel, which does not let it leave the root.
 */
export function splitPath(path: string): RelativePath {
  if (path.includes("\0")) refuse(path, "contains a NUL character");
  if (Buffer.byteLength(path) > maxPathBytes) refuse(path, `is over ${maxPathBytes} bytes long`);
  const components = path.split("/").filter((part, index) => part !== "" || index > 0);
  const name = components.pop();
  if (name === undefined || name === "" || name === "." || name === "..") {
    refuse(path, "must end with the name of an entry");
  }
  const parent = components.filter((part) => part !== "").join("/");
  return { parent: parent === "" ? "." : parent, name: entryName(name) };
}
