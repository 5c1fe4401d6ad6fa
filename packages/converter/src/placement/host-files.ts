import { invalidContext } from "../converter-error.ts";

/** Files of the node, by path without the leading slash; the value `dir:` means a directory. */
export class HostFiles {
  readonly #files: Readonly<Record<string, string>>;

  constructor(files: Readonly<Record<string, string>>) {
    this.#files = files;
  }

  has(path: string): boolean {
    return Object.hasOwn(this.#files, path);
  }

  /** Content without surrounding white space. @throws ConverterError if the file does not exist. */
  read(path: string): string {
    const content = this.has(path) ? this.#files[path] : undefined;
    if (content !== undefined && content !== "dir:") return content.trim();
    throw invalidContext("host.hostFiles", `file /${path} does not exist`);
  }

  /** Names in a directory; `undefined` if there is no such directory. */
  list(path: string): string[] | undefined {
    const names = new Set<string>();
    for (const file of Object.keys(this.#files)) {
      if (!file.startsWith(`${path}/`)) continue;
      const [name] = file.slice(path.length + 1).split("/");
      if (name) names.add(name);
    }
    return names.size > 0 || this.#files[path] === "dir:" ? [...names] : undefined;
  }
}
