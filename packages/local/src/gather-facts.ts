import { constants, existsSync } from "node:fs";
import { access, readdir, stat, statfs } from "node:fs/promises";
import { totalmem } from "node:os";
import { dirname } from "node:path";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { isDiskError } from "@virtkit/domain-manager/disks";
import { readImageInfo } from "@virtkit/domain-manager/disks/images";
import { isNodeAgentError } from "@virtkit/node-agent/errors";
import type { ClaimFiles } from "./claim-files.ts";
import { efiBoot } from "./compute-refusals.ts";
import { findFirmware } from "./host-firmware.ts";
import { emulatorState, findProgram, libvirtdState, tryProgram } from "./host-programs.ts";
import type { Accel } from "./local-accel.ts";
import { localArchitecture } from "./local-architecture.ts";
import type { DirectoryFact, FileFact, LocalFacts } from "./local-facts.ts";
import { readableImage, type VolumeSources } from "./pod-volumes.ts";

/** What {@link gatherFacts} looks at. */
export interface GatherOptions {
  readonly stateDirectory: string;
  readonly vmi: VirtualMachineInstance;
  readonly accel: Accel;
  readonly sources?: VolumeSources;
  readonly claims: Pick<ClaimFiles, "facts">;
}

/**
 * Examines this host and the caller's files for a VMI. Changes nothing; no program runs for long.
 */
export async function gatherFacts(options: GatherOptions): Promise<LocalFacts> {
  const { vmi, accel, sources = {}, claims } = options;
  const { namespace = "default" } = vmi.metadata ?? {};
  const [libvirtd, { machineTypes, ...qemu }, swtpm, stateDirectory, images] = await Promise.all([
    libvirtdState(),
    emulatorState(),
    tryProgram(findProgram("swtpm"), ["--version"]),
    directoryFact(options.stateDirectory),
    imageFacts(vmi, sources),
  ]);
  const architecture = localArchitecture;
  return {
    architecture,
    accel,
    hasKvm: existsSync("/dev/kvm"),
    memoryBytes: memoryBytes(),
    stateDirectory,
    libvirtd,
    qemu,
    machineTypes,
    cpuModels: await cpuModels(),
    swtpm,
    firmware: findFirmware(architecture, efiBoot(vmi, { architecture })),
    images,
    claims: claims.facts,
    objects: (sources.objects ?? [])
      .filter(({ metadata }) => (metadata.namespace ?? "default") === namespace)
      .map(({ kind, metadata }) => `${kind}/${metadata.name}`),
  };
}

/** libvirt has a file for each model. */
async function cpuModels(): Promise<readonly string[]> {
  // Without libvirt there are no models; the host report says that it is missing.
  const names = await readdir("/usr/share/libvirt/cpu_map").catch(() => []);
  return names.flatMap((name) => /^x86_(.+)\.xml$/.exec(name)?.[1] ?? []);
}

/** A process without a limit sees 0, or a number beyond all memory. */
function memoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/** The directory need not exist; then the closest one above it counts. */
export async function directoryFact(path: string): Promise<DirectoryFact> {
  let place = path;
  while (!existsSync(place) && place !== dirname(place)) place = dirname(place);
  try {
    if (!(await stat(place)).isDirectory()) {
      return { path, problem: `${place} is not a directory`, freeBytes: 0 };
    }
    await access(place, constants.W_OK | constants.X_OK);
    const { bavail, bsize, files, ffree } = await statfs(place);
    return { path, freeBytes: bavail * bsize, ...(files > 0 ? { freeFiles: ffree } : {}) };
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    const known: Readonly<Record<string, string>> = {
      EROFS: "the file system is read-only",
      EACCES: "it is not writable",
      EPERM: "it cannot be changed",
    };
    return { path, problem: known[code] ?? message, freeBytes: 0 };
  }
}

/** What there is of the images that a VMI names. */
async function imageFacts(
  { spec }: VirtualMachineInstance,
  sources: VolumeSources,
): Promise<Record<string, FileFact>> {
  const disks = (spec.volumes ?? []).flatMap(({ containerDisk }) => containerDisk?.image ?? []);
  const kernel = spec.domain.firmware?.kernelBoot?.container?.image;
  const facts = new Map<string, FileFact>();
  for (const image of disks) facts.set(image, await imageFact(image, sources, true));
  if (kernel && !facts.has(kernel)) facts.set(kernel, await imageFact(kernel, sources, false));
  return Object.fromEntries(facts);
}

async function imageFact(
  image: string,
  sources: VolumeSources,
  isDisk: boolean,
): Promise<FileFact> {
  try {
    const path = await readableImage(image, sources);
    if (isDisk) await readImageInfo(path);
    return { path };
  } catch (error) {
    if (!isNodeAgentError(error) && !isDiskError(error)) throw error;
    const [found = "", ...instead] = error.message.split("; ");
    return { problem: { found, instead: instead.join("; ") || "use another one: --image" } };
  }
}
