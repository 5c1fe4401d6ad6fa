import { chown, mkdir, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Container, Pod, PodVolume } from "@virtkit/launcher-pod";
import { NodeAgentError } from "@virtkit/node-agent/errors";
import { podField } from "./container-environment.ts";
import { findImage, type ImageStore } from "./image-store.ts";

/** A Secret or ConfigMap, as far as files are made of it. */
export interface DataObject {
  readonly kind: string;
  readonly metadata: { readonly name?: string; readonly namespace?: string };
  /** Of a Secret in base64, of a ConfigMap as it is. */
  readonly data?: Readonly<Record<string, string>>;
  readonly stringData?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
}

/** A file or directory of the host that the sandbox sees somewhere else. */
export interface PodMount {
  readonly source: string;
  readonly target: string;
  readonly readOnly: boolean;
  readonly kind: "file" | "directory";
}

/** What volumes are made from. */
export interface VolumeSources extends ImageStore {
  /**
   * Raw disk images in place of claims and DataVolumes, by the names of the claims; absolute paths.
   */
  readonly claims?: Readonly<Record<string, string>>;
  /** Secrets and ConfigMaps by kind and name. */
  readonly objects?: readonly DataObject[];
}

/** User and group of the launcher. */
export const launcherUid = 107;

/**
 * Creates the volumes that a container mounts, below the Pod's folder and as a kubelet lays them
 * out, and returns the mounts in order. Can be repeated. What only a cluster has, such as claims,
 * is refused with what to use instead.
 */
export async function makeVolumes(
  directory: string,
  pod: Pod,
  container: Container,
  sources: VolumeSources,
): Promise<readonly PodMount[]> {
  const mounts: PodMount[] = [];
  for (const { name, mountPath, subPath, readOnly = false } of container.volumeMounts ?? []) {
    const volume = pod.spec.volumes?.find((each) => each.name === name);
    if (!volume) throw refused(name, "is mounted but not defined", "render the Pod again");
    const made = await makeVolume(directory, pod, volume, sources);
    const source = subPath === undefined ? made.path : join(made.path, subPath);
    const kind = await kindOf(source);
    // Of the spellings of a Secret's key the launcher's Pod mounts each, and one of them is there.
    if (kind === undefined) continue;
    mounts.push({ source, target: mountPath, readOnly, kind });
    for (const file of made.files ?? []) {
      mounts.push({ ...file, target: join(mountPath, file.target) });
    }
  }
  return mounts;
}

async function kindOf(path: string): Promise<PodMount["kind"] | undefined> {
  try {
    return (await stat(path)).isDirectory() ? "directory" : "file";
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

interface MadeVolume {
  readonly path: string;
  /** Files to be mounted inside of it. */
  readonly files?: readonly PodMount[];
}

async function makeVolume(
  directory: string,
  pod: Pod,
  volume: PodVolume,
  sources: VolumeSources,
): Promise<MadeVolume> {
  const folder = async (type: string, owner: number): Promise<string> => {
    const path = join(directory, "volumes", `kubernetes.io~${type}`, volume.name);
    await mkdir(path, { recursive: true });
    await chown(path, owner, launcherUid);
    return path;
  };
  if (volume.emptyDir) return { path: await folder("empty-dir", launcherUid) };
  if (volume.image) return await imageVolume(await folder("image", 0), volume.image, sources);
  // Empty: the file in place of the claim is mounted in it once the sandbox runs.
  if (volume.persistentVolumeClaim) return { path: await folder("claim", 0) };
  // Never the host's own directory: only the disk is mounted in it, by its handle.
  if (volume.hostPath) return { path: await folder("host-path", 0) };
  if (volume.downwardAPI) {
    return await filesIn(await folder("downward-api", 0), podFields(pod, volume.downwardAPI));
  }
  const wanted = volume.secret
    ? { kind: "Secret", name: volume.secret.secretName, optional: volume.secret.optional }
    : { kind: "ConfigMap", name: volume.configMap?.name, optional: volume.configMap?.optional };
  if (wanted.name === undefined) {
    const use = "use a containerDisk, or a hostDisk with a path of this host";
    throw refused(volume.name, "needs a cluster", use);
  }
  const object = objectOf(sources, { ...wanted, name: wanted.name }, pod.metadata?.namespace);
  if (!object && wanted.optional !== true) {
    const missing = `needs the ${wanted.kind} "${wanted.name}"`;
    throw refused(volume.name, missing, "add it to the manifest file");
  }
  return await filesIn(await folder(wanted.kind.toLowerCase(), 0), contentOf(object));
}

function refused(volume: string, problem: string, what: string): NodeAgentError {
  const message = `the volume "${volume}" ${problem}; ${what}`;
  return new NodeAgentError("AGENT_SANDBOX", message, { path: `volumes.${volume}` });
}

/** The root of an image with one disk in `/disk`, where container disks have theirs. */
async function imageVolume(
  path: string,
  { reference = "" }: NonNullable<PodVolume["image"]>,
  sources: VolumeSources,
): Promise<MadeVolume> {
  const source = await readableImage(reference, sources);
  const target = join("disk", basename(source));
  await mkdir(join(path, "disk"), { recursive: true });
  // What the file is mounted on.
  await writeFile(join(path, target), "");
  return { path, files: [{ source, target, readOnly: true, kind: "file" }] };
}

/** The path of an image's file. Throws if there is none, or the launcher's user cannot read it. */
export async function readableImage(reference: string, sources: VolumeSources): Promise<string> {
  const source = await findImage(reference, sources);
  const { mode, uid, gid } = await stat(source);
  const readable =
    (mode & 0o004) !== 0 || uid === launcherUid || (gid === launcherUid && (mode & 0o040) !== 0);
  if (!readable) {
    const message = `the image "${reference}" at ${source} cannot be read by uid ${launcherUid}; run: chmod o+r ${source}`;
    throw new NodeAgentError("AGENT_SANDBOX", message, { path: "containerDisk.image" });
  }
  return source;
}

function objectOf(
  { objects = [] }: VolumeSources,
  { kind, name }: { readonly kind: string; readonly name: string },
  namespace = "default",
): DataObject | undefined {
  return objects.find(
    ({ kind: itsKind, metadata }) =>
      itsKind === kind && metadata.name === name && (metadata.namespace ?? "default") === namespace,
  );
}

/** A Secret's plain data takes precedence, as in a cluster. */
function contentOf(object: DataObject | undefined): ReadonlyMap<string, Buffer> {
  const { kind, data = {}, stringData = {}, binaryData = {} } = object ?? {};
  const decode = (text: string): Buffer => Buffer.from(text, "base64");
  return new Map([
    ...Object.entries(data).map(([key, text]): [string, Buffer] => [
      key,
      kind === "Secret" ? decode(text) : Buffer.from(text),
    ]),
    ...Object.entries(binaryData).map(([key, text]): [string, Buffer] => [key, decode(text)]),
    ...Object.entries(stringData).map(([key, text]): [string, Buffer] => [key, Buffer.from(text)]),
  ]);
}

function podFields(
  pod: Pod,
  { items = [] }: NonNullable<PodVolume["downwardAPI"]>,
): ReadonlyMap<string, Buffer> {
  return new Map(
    items.map(({ path, fieldRef }) => [
      path,
      Buffer.from(podField(pod, fieldRef?.fieldPath ?? "")),
    ]),
  );
}

/** Writes files that only the launcher's group may read. */
async function filesIn(path: string, content: ReadonlyMap<string, Buffer>): Promise<MadeVolume> {
  for (const [key, bytes] of content) {
    if (!/^[-._a-zA-Z0-9]+$/.test(key) || key === "." || key === "..") {
      throw refused(basename(path), `has the key ${JSON.stringify(key)}`, "use a file name");
    }
    await writeFile(join(path, key), bytes, { mode: 0o640 });
    await chown(join(path, key), 0, launcherUid);
  }
  return { path };
}
