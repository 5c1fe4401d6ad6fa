import type { LauncherRequest } from "./launcher-request.ts";

/** Secrets that images are pulled with: of containerDisks, of the kernel, of the launcher; each once. */
export function imagePullSecrets({ spec, domain, profile }: LauncherRequest): { name: string }[] {
  const names = new Set<string>();
  for (const { containerDisk } of spec.volumes ?? []) {
    if (containerDisk?.imagePullSecret) names.add(containerDisk.imagePullSecret);
  }
  const kernel = domain.firmware?.kernelBoot?.container;
  if (kernel?.imagePullSecret) names.add(kernel.imagePullSecret);
  if (profile.imagePullSecret) names.add(profile.imagePullSecret);
  return Array.from(names, (name) => ({ name }));
}
