import type { Disk, Features, Probe, VirtualMachineInstanceSpec } from "../schema/index.ts";

/**
 * Fills in the defaults of the types themselves: a present switch is on, a disk is a disk, a CD-ROM is closed
 * and read-only, a probe has timing, a firmware has a UUID.
 */
export function typeDefaults(draft: VirtualMachineInstanceSpec, uuid: () => string): void {
  const { domain } = draft;
  domain.firmware ??= {};
  domain.features ??= {};
  for (const disk of domain.devices.disks ?? []) diskDefaults(disk);
  for (const input of domain.devices.inputs ?? []) {
    input.bus ||= "usb";
    input.type ||= "tablet";
  }
  probeDefaults(draft.readinessProbe);
  probeDefaults(draft.livenessProbe);
  domain.firmware.uuid ||= uuid();
  timerDefaults(draft);
  featureDefaults(domain.features);
  for (const gpu of domain.devices.gpus ?? []) switchOn(gpu.virtualGPUOptions?.display?.ramFB);
}

type Switch = { enabled?: boolean };

/** What is present is on unless it says otherwise. */
function switchOn(...switches: readonly (Switch | undefined)[]): void {
  for (const feature of switches) if (feature) feature.enabled ??= true;
}

function timerDefaults(draft: VirtualMachineInstanceSpec): void {
  const timer = draft.domain.clock?.timer;
  for (const one of [timer?.hpet, timer?.kvm, timer?.pit, timer?.rtc, timer?.hyperv]) {
    if (one) one.present ??= true;
  }
}

function diskDefaults(disk: Disk): void {
  if (!disk.disk && !disk.cdrom && !disk.lun) disk.disk = {};
  if (disk.cdrom) {
    disk.cdrom.readonly ??= true;
    disk.cdrom.tray ||= "closed";
  }
  switchOn(disk.blockSize?.matchVolume);
}

function featureDefaults(features: Features): void {
  features.acpi ??= {};
  const { hyperv } = features;
  switchOn(features.acpi, features.apic, features.smm, features.pvspinlock);
  if (!hyperv) return;
  switchOn(...Object.values(hyperv));
  switchOn(hyperv.synictimer?.direct, hyperv.tlbflush?.direct, hyperv.tlbflush?.extended);
  if (hyperv.spinlocks?.enabled) hyperv.spinlocks.spinlocks ??= 4096;
}

function probeDefaults(probe: Probe | undefined): void {
  if (!probe) return;
  probe.timeoutSeconds = atLeastOne(probe.timeoutSeconds, 1);
  probe.periodSeconds = atLeastOne(probe.periodSeconds, 10);
  probe.successThreshold = atLeastOne(probe.successThreshold, 1);
  probe.failureThreshold = atLeastOne(probe.failureThreshold, 3);
}

function atLeastOne(value: number | undefined, fallback: number): number {
  return value !== undefined && value >= 1 ? value : fallback;
}
