import type { Configurator, Draft } from "../draft.ts";
import { kernelBootFile } from "../paths.ts";

export const kernelBoot: Configurator = {
  name: "kernel-boot",
  summary: "A kernel that is started without a boot loader.",
  configure({ spec, domain }: Draft): void {
    const boot = spec.firmware?.kernelBoot;
    if (!boot) return;
    const { kernelPath, initrdPath } = boot.container ?? {};
    if (kernelPath) domain.os.kernel = kernelBootFile(kernelPath);
    if (initrdPath) domain.os.initrd = kernelBootFile(initrdPath);
    domain.os.cmdline = boot.kernelArgs || undefined;
  },
};
