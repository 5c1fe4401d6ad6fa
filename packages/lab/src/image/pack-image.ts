import { createHash, type Hash } from "node:crypto";
import { type FileHandle, open, rename, rm, stat } from "node:fs/promises";
import { LabError } from "../lab-error.ts";
import { filesBelow, type ImageFile } from "./image-file.ts";
import { tarEnd, tarHeader, tarPadding } from "./tar-header.ts";

/** The input of {@link packImage}. */
export interface ImageOptions {
  /** Where the archive goes; replaces an existing one once the new one is complete. */
  readonly archive: string;
  /** Repository and tag, as Pods name the image: `localhost/virtkit/launcher:test`. */
  readonly reference: string;
  /** What a container of it runs by default, as in the OCI image specification. */
  readonly config?: ImageConfig;
}

/** What a container runs by default. */
export interface ImageConfig {
  readonly Entrypoint?: readonly string[];
  readonly Cmd?: readonly string[];
  readonly Env?: readonly string[];
  readonly User?: string;
  readonly WorkingDir?: string;
}

/** An image that was packed. */
export interface PackedImage {
  readonly archive: string;
  readonly reference: string;
  /** Of its manifest. */
  readonly digest: string;
  readonly bytes: number;
}

/** A blob of the image, as a manifest names it. */
interface Blob {
  readonly digest: string;
  readonly size: number;
}

const architectures: Partial<Record<NodeJS.Architecture, string>> = { x64: "amd64" };

/**
 * Packs an OCI image archive with one uncompressed layer, which containerd imports: needs no
 * container engine and no registry. The same files and configuration give the same bytes, at any
 * time and in any order; owners and modes are kept, times are not.
 *
 * @param content a directory of this host, whose files become root's, or a list of files. Directories that
 *   the list leaves out are made.
 */
export async function packImage(
  content: string | readonly ImageFile[],
  options: ImageOptions,
): Promise<PackedImage> {
  const given = typeof content === "string" ? await filesBelow(content) : content;
  const work = `${options.archive}.${process.pid}`;
  const file = await open(work, "w");
  try {
    const archive = new Archive(file);
    const layer = await archive.addLayer(withParents(given));
    const image = await archive.addJson({
      architecture: architectures[process.arch] ?? process.arch,
      os: "linux",
      config: options.config ?? {},
      rootfs: { type: "layers", diff_ids: [layer.digest] },
    });
    const manifest = await archive.addJson({
      schemaVersion: 2,
      mediaType: mediaType("manifest.v1+json"),
      config: { mediaType: mediaType("config.v1+json"), ...image },
      layers: [{ mediaType: mediaType("layer.v1.tar"), ...layer }],
    });
    await archive.addFile("index.json", JSON.stringify(index(manifest, options.reference)));
    await archive.addFile("oci-layout", JSON.stringify({ imageLayoutVersion: "1.0.0" }));
    const bytes = await archive.end();
    await file.close();
    await rename(work, options.archive);
    const { archive: path, reference } = options;
    return { archive: path, reference, digest: manifest.digest, bytes };
  } catch (error) {
    await file.close();
    await rm(work, { force: true });
    throw error;
  }
}

function mediaType(kind: string): string {
  return `application/vnd.oci.image.${kind}`;
}

function index(manifest: Blob, reference: string): unknown {
  const annotations = { "io.containerd.image.name": reference };
  const entry = { mediaType: mediaType("manifest.v1+json"), ...manifest, annotations };
  return { schemaVersion: 2, manifests: [entry] };
}

/** Sorted, each path once, and each directory before what is in it. */
function withParents(files: readonly ImageFile[]): ImageFile[] {
  const byPath = new Map<string, ImageFile>();
  for (const file of files) {
    if (file.path.startsWith("/") || file.path.split("/").includes("..")) {
      throw new LabError("LAB_IMAGE", `${file.path}: must be a path below the root of the image`);
    }
    const known = byPath.get(file.path);
    if (known && known.kind !== file.kind) {
      throw new LabError("LAB_IMAGE", `${file.path}: is a ${known.kind} and a ${file.kind}`);
    }
    byPath.set(file.path, file);
  }
  for (const path of [...byPath.keys()]) {
    const parts = path.split("/").slice(0, -1);
    parts.forEach((_, at) => {
      const parent = parts.slice(0, at + 1).join("/");
      const known = byPath.get(parent);
      if (!known) byPath.set(parent, { path: parent, kind: "directory" });
      else if (known.kind !== "directory") {
        throw new LabError("LAB_IMAGE", `${path}: is below ${parent}, which is a ${known.kind}`);
      }
    });
  }
  return [...byPath.values()].sort((one, other) => (one.path < other.path ? -1 : 1));
}

/** The archive while it is written, from its beginning to its end. */
class Archive {
  readonly #file: FileHandle;
  #at = 0;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  async addFile(path: string, data: string | Uint8Array): Promise<void> {
    const bytes = Buffer.from(data);
    const size = bytes.length;
    await this.#write(tarHeader({ path, kind: "file", mode: 0o644, size }));
    await this.#write(bytes);
    await this.#write(tarPadding(size));
  }

  async addJson(value: unknown): Promise<Blob> {
    const text = JSON.stringify(value);
    const hash = createHash("sha256").update(text).digest("hex");
    await this.addFile(`blobs/sha256/${hash}`, text);
    return { digest: `sha256:${hash}`, size: Buffer.byteLength(text) };
  }

  /** The layer is itself a tar; its name is its hash, so its header is written last. */
  async addLayer(files: readonly ImageFile[]): Promise<Blob> {
    const start = this.#at;
    this.#at += 512;
    const hash = createHash("sha256");
    for (const file of files) await this.#addEntry(file, hash);
    await this.#write(tarEnd, hash);
    const size = this.#at - start - 512;
    const digest = hash.digest("hex");
    const path = `blobs/sha256/${digest}`;
    await this.#file.write(tarHeader({ path, kind: "file", mode: 0o644, size }), 0, 512, start);
    return { digest: `sha256:${digest}`, size };
  }

  async end(): Promise<number> {
    await this.#write(tarEnd);
    return this.#at;
  }

  async #addEntry({ path, kind, mode = 0o755, uid = 0, source, data }: ImageFile, hash: Hash) {
    const shared = { path, kind, mode, uid, gid: uid };
    if (kind === "directory") return await this.#write(tarHeader(shared), hash);
    if (kind === "symlink") {
      return await this.#write(tarHeader({ ...shared, target: String(data) }), hash);
    }
    if (source === undefined) {
      const bytes = Buffer.from(data ?? "");
      await this.#write(tarHeader({ ...shared, size: bytes.length }), hash);
      await this.#write(bytes, hash);
      return await this.#write(tarPadding(bytes.length), hash);
    }
    const { size } = await stat(source);
    await this.#write(tarHeader({ ...shared, size }), hash);
    const start = this.#at;
    await using from = await open(source);
    for await (const chunk of from.createReadStream({ autoClose: false, highWaterMark: 1 << 20 })) {
      await this.#write(chunk as Buffer, hash);
    }
    if (this.#at - start !== size) {
      throw new LabError("LAB_IMAGE", `${source}: changed while it was packed; pack again`);
    }
    await this.#write(tarPadding(size), hash);
  }

  async #write(bytes: Uint8Array, hash?: Hash): Promise<void> {
    hash?.update(bytes);
    await this.#file.write(bytes, 0, bytes.length, this.#at);
    this.#at += bytes.length;
  }
}
