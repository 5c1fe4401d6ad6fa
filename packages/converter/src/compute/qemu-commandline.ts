import type { Configurator, Draft } from "../draft.ts";

/** Verbosity of the launcher's log above which the firmware's log is kept, too. */
const verbosityThreshold = 5;

export const qemuCommandline: Configurator = {
  name: "qemu-commandline",
  summary: "Ignition data and the firmware's log, for which libvirt has no elements.",
  configure(draft: Draft): void {
    const values = [...ignition(draft), ...firmwareLog(draft)];
    if (values.length === 0) return;
    draft.domain.qemuCommandline = { args: values.map((value) => ({ value })) };
  },
};

function ignition({ vmi, annotations, names, paths, context }: Draft): string[] {
  // Text without that word is not an Ignition document.
  if (!annotations[names.annotations.ignitionData]?.includes("ignition")) return [];
  const { ephemeralDiskDir } = context;
  const guest = vmi.metadata ?? {};
  const file = paths.guestDataFile(ephemeralDiskDir, "ignition-data", guest, "data.ign");
  return ["-fw_cfg", `name=opt/com.coreos/config,file=${file}`];
}

function firmwareLog({ architecture, paths, context }: Draft): string[] {
  const verbosity = context.host?.launcherLogVerbosity;
  if (!architecture.hasDebugPort || verbosity === undefined) return [];
  if (!/^[-+]?\d+$/.test(verbosity) || Number(verbosity) <= verbosityThreshold) return [];
  return [
    "-chardev",
    `file,id=firmwarelog,path=${paths.firmwareLogPipe}`,
    "-device",
    "isa-debugcon,iobase=0x402,chardev=firmwarelog",
  ];
}
