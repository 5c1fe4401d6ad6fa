import type { LauncherRequest } from "./launcher-request.ts";

/** Pull secrets for containerDisks, the kernel and the launcher; each once. */
export function imagePullSecrets({ spec, domain, profile }: LauncherRequest): { name: string }[] {
  const secrets: { name: string }[] = [];
  const add = (name: string | undefined): void => {
    if (name && !secrets.some((secret) => secret.name === name)) secrets.push({ name });
  };
  for (const { containerDisk } of spec.volumes ?? []) add(containerDisk?.imagePullSecret);
  add(domain.firmware?.kernelBoot?.container?.imagePullSecret);
  add(profile.imagePullSecret);
  return secrets;
}
