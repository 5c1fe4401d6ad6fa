import { HostError } from "../host-error.ts";

/** One line of `/proc/<pid>/mountinfo`. */
export interface MountInfo {
  readonly id: number;
  readonly parentId: number;
  readonly major: number;
  readonly minor: number;
  /** The part of the file system that is mounted. */
  readonly root: string;
  /** The mount point, as seen from the process's root. */
  readonly mountPoint: string;
  readonly options: readonly string[];
  /** Propagation, such as `shared:2` or `master:1`. */
  readonly optionalFields: readonly string[];
  readonly fileSystemType: string;
  readonly source: string;
  readonly superOptions: readonly string[];
}

const escapes = /\\([0-7]{3})/g;

/** Undoes the kernel's octal escapes; it escapes only space, tab, line feed, backslash and `#`. */
function unescapeField(field: string): string {
  return field.replace(escapes, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
}

/** Parses a whole mountinfo file. Skips empty lines; throws on any other malformed line. */
export function parseMountInfo(text: string): MountInfo[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map(parseLine);
}

function parseLine(line: string): MountInfo {
  const fields = line.split(" ");
  const separator = fields.indexOf("-", 6);
  const [id, parentId, device, root, mountPoint, options] = fields;
  const [fileSystemType, source, superOptions] = fields.slice(separator + 1);
  const numbers = /^(\d+):(\d+)$/.exec(device ?? "");
  if (separator < 0 || !numbers || fileSystemType === undefined || options === undefined) {
    const message = `this is not a line of mountinfo: ${JSON.stringify(line.slice(0, 200))}`;
    throw new HostError("HOST_FORMAT_INVALID", message, { path: "mountinfo" });
  }
  return {
    id: Number(id),
    parentId: Number(parentId),
    major: Number(numbers[1]),
    minor: Number(numbers[2]),
    root: unescapeField(root ?? ""),
    mountPoint: unescapeField(mountPoint ?? ""),
    options: options.split(","),
    optionalFields: fields.slice(6, separator),
    fileSystemType: unescapeField(fileSystemType),
    source: unescapeField(source ?? ""),
    superOptions: (superOptions ?? "").split(",").filter((option) => option !== ""),
  };
}
