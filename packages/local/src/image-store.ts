import { stat } from "node:fs/promises";
import { join } from "node:path";
import { NodeAgentError } from "@virtkit/node-agent/errors";

/** Where the images of container disks come from: there is no registry in local mode. */
export interface ImageStore {
  /** Disk images by their names in manifests. */
  readonly images?: Readonly<Record<string, string>>;
  /** A folder with `NAME.qcow2`, `NAME.img` or `NAME.raw`; the `/` and `:` of a name are `_` there. */
  readonly folder?: string;
}

const endings = [".qcow2", ".img", ".raw"];

/**
 * The path of the disk image with this name.
 *
 * @throws NodeAgentError if there is none; the message says what to provide.
 */
export async function findImage(
  name: string,
  { images = {}, folder }: ImageStore,
): Promise<string> {
  const given = Object.hasOwn(images, name) ? images[name] : undefined;
  const inFolder =
    folder === undefined ? [] : endings.map((end) => join(folder, fileName(name) + end));
  const candidates = given === undefined ? inFolder : [given];
  for (const path of candidates) if (await isFile(path)) return path;
  const path = "containerDisk.image";
  if (given !== undefined) {
    const message = `the image "${name}" should be ${given}, which does not exist; use the path of a raw or qcow2 disk image`;
    throw new NodeAgentError("AGENT_SANDBOX", message, { path });
  }
  const place =
    folder === undefined ? "" : `, or put the disk at ${join(folder, fileName(name))}.qcow2`;
  const message = `there is no image "${name}" on this host, and images are not pulled from registries; add --image ${name}=DISK.qcow2${place}`;
  throw new NodeAgentError("AGENT_SANDBOX", message, { path });
}

/** A name of an image as a file's name. */
export function fileName(image: string): string {
  return image.replaceAll(/[^\w.@-]+/g, "_").replace(/^\.+/, "_");
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    // The answer to the question.
    return false;
  }
}
