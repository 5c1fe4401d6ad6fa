import type { ClusterConfig } from "../config/index.ts";
import type { GPU, VirtualMachineInstanceSpec } from "../schema/index.ts";
import { isSet } from "../shape.ts";
import { type Cause, each, fine, invalid, join, oneOf, quote } from "./cause.ts";

/** Only one vGPU can be the boot display. */
export function bootDisplays(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  const count = spec.domain.devices.gpus?.filter(isBootDisplay).length ?? 0;
  if (count <= 1) return fine;
  return invalid(
    `${at}.GPUs`,
    `has ${count} vGPUs with a display and ramFB; only one of them can show the boot screen; disable ramFB on the others`,
    `${at}.domain.devices.gpus`,
  );
}

/** A display is on by default, and so is its RAM frame buffer. */
function isBootDisplay({ virtualGPUOptions }: GPU): boolean {
  const display = virtualGPUOptions?.display;
  if (!display || display.enabled === false) return false;
  return !display.ramFB || display.ramFB.enabled === true;
}

const soundModels: ReadonlySet<string> = new Set(["ich9", "ac97"]);

/** A sound card has one of two models, and a name. */
export function sound({ domain }: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  const card = domain.devices.sound;
  if (!card) return fine;
  const subject = `${at}.domain.devices.sound`;
  return join(
    !card.model || soundModels.has(card.model)
      ? fine
      : invalid(
          `${at}.Sound`,
          `is ${quote(card.model)}; use ${oneOf(soundModels)}`,
          `${subject}.model`,
        ),
    card.name ? fine : invalid(`${at}.Sound`, "is missing; set it", `${subject}.name`),
  );
}

/** A video device needs an attached graphics device. */
export function video({ domain }: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  const { video: device, autoattachGraphicsDevice } = domain.devices;
  if (!device || autoattachGraphicsDevice !== false) return fine;
  return invalid(
    `${at}.video`,
    "is set, but autoattachGraphicsDevice is false; remove one of them",
    `${at}.domain.devices.video`,
  );
}

const panicModels: ReadonlySet<string> = new Set(["hyperv", "isa", "pvpanic"]);

/** Panic devices have a known model; s390x needs none. */
export function panicDevices(
  spec: VirtualMachineInstanceSpec,
  at: string,
  config: ClusterConfig,
): readonly Cause[] {
  const devices = spec.domain.devices.panicDevices;
  if (!devices?.length) return fine;
  const field = `${at}.domain.devices.panicDevices`;
  const architecture = spec.architecture || config.defaultArchitecture;
  return join(
    architecture === "s390x"
      ? invalid(field, "is not supported on s390x, which reports a panic without it; remove it")
      : fine,
    each(devices, ({ model }, i) =>
      !isSet(model) || panicModels.has(model)
        ? fine
        : invalid(`${field}[${i}].model`, `is ${quote(model)}; use ${oneOf(panicModels)}`),
    ),
  );
}

/** SCSI reservations need a helper on the node, which the cluster must enable. */
export function persistentReservation(
  { domain }: VirtualMachineInstanceSpec,
  at: string,
  config: ClusterConfig,
): readonly Cause[] {
  if (!domain.devices.disks?.some(({ lun }) => lun?.reservation)) return fine;
  if (config.persistentReservationEnabled) return fine;
  return invalid(
    `${at}.domain.devices.disks.luns.reservation`,
    "has a lun with reservation, which this cluster does not support; set persistentReservationConfiguration.enabled in KubeVirt's configuration, or remove it",
    `${at}.domain.devices.disks`,
  );
}

/** Sharing a whole storage volume as a file system is experimental. */
export function filesystems(
  spec: VirtualMachineInstanceSpec,
  at: string,
  config: ClusterConfig,
): readonly Cause[] {
  const shared = spec.domain.devices.filesystems;
  if (!shared?.length || config.gate("EnableVirtioFsStorageVolumes")) return fine;
  const volumes = new Map(spec.volumes?.map((volume) => [volume.name, volume]));
  return each(shared, ({ name }) => {
    const volume = volumes.get(name);
    if (!volume?.persistentVolumeClaim && !volume?.dataVolume) return fine;
    return invalid(
      `${at}.domain.devices.filesystems`,
      `shares the storage volume ${quote(name)}, which needs the feature gate EnableVirtioFsStorageVolumes; turn it on or use a disk`,
    );
  });
}
