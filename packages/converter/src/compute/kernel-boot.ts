import type { Configurator, Draft } from "../draft.ts";

export const kernelBoot: Configurator = {
  name: "kernel-boot",
  summary: "A kernel that boots without a boot loader.",
  configure({ spec, paths, domain }: Draft): void {
    const boot = spec.firmware?.kernelBoot;
    if (!boot) return;
    const { kernelPath, initrdPath } = boot.container ?? {};
    if (kernelPath) domain.os.kernel = paths.kernelBootFile(kernelPath);
    if (initrdPath) domain.os.initrd = paths.kernelBootFile(initrdPath);
    domain.os.cmdline = boot.kernelArgs || undefined;
  },
};
