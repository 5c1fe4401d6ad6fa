import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

const shared = ["/usr/", "/opt/", "/nix/", "/bin/", "/sbin/"];

/**
 * The folders that a sandbox must see to run a Node program: Node's own, and the one with the
 * program and all the packages that it imports. Leaves out those that every sandbox sees.
 */
export function visibleFolders(node: string, program: string): string[] {
  const folders = [dirname(realpathSync(node)), packagesFolder(realpathSync(program))];
  return [...new Set(folders)].filter(
    (folder) => !shared.some((prefix) => `${folder}/`.startsWith(prefix)),
  );
}

/**
 * The outermost folder around a program that has a `node_modules`, as far as others may read the
 * folders in between: packages of a workspace are beside each other and link to what is above them.
 */
function packagesFolder(program: string): string {
  let found = dirname(program);
  for (let folder = found; folder !== "/" && isOpen(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, "node_modules"))) found = folder;
  }
  return found;
}

function isOpen(folder: string): boolean {
  return (statSync(folder).mode & 0o005) === 0o005;
}
