/** The directory of a path on the node, without `.`, `..` and double slashes; `.` if it has none. */
export function directoryOf(path: string): string {
  const rooted = path.startsWith("/");
  const segments: string[] = [];
  for (const segment of path.slice(0, path.lastIndexOf("/") + 1).split("/")) {
    if (segment === "" || segment === ".") continue;
    if (segment !== ".." || (!rooted && (segments.at(-1) ?? "..") === "..")) segments.push(segment);
    else segments.pop();
  }
  if (rooted) return `/${segments.join("/")}`;
  return segments.join("/") || ".";
}
