import type { Refusal } from "@virtkit/node-agent/errors";
import { programHints } from "./host-programs.ts";
import type { LocalFacts } from "./local-facts.ts";

/**
 * Records, journals, logs and the images that are created for a guest take a few MiB; the rest is
 * room to grow.
 */
const leastBytes = 64 * 2 ** 20;
/** A guest's files and folders are about fifty. */
const leastFiles = 200;

/** What prevents any guest from running on this host. */
export function hostRefusals(facts: LocalFacts): Refusal[] {
  return [...programRefusals(facts), ...directoryRefusals(facts)];
}

function programRefusals({ libvirtd, qemu, accel, hasKvm }: LocalFacts): Refusal[] {
  const refusals: Refusal[] = [];
  const programs = [
    ["libvirtd", libvirtd, programHints.libvirtd],
    ["QEMU", qemu, programHints.qemu],
  ] as const;
  for (const [field, { state, found }, hint] of programs) {
    if (state === "ok") continue;
    const verb = state === "missing" ? "install" : "repair";
    refusals.push({ field, found, instead: `${verb} it (${hint}); "virtkit doctor" checks it` });
  }
  if (accel === "kvm" && !hasKvm) {
    refusals.push({
      field: "--accel kvm",
      found: "there is no /dev/kvm",
      instead: "use --accel tcg, or run: virtkit doctor",
    });
  }
  return refusals;
}

function directoryRefusals({ stateDirectory }: LocalFacts): Refusal[] {
  const { path, problem, freeBytes, freeFiles } = stateDirectory;
  const field = "--state-dir";
  const instead = "use another one: --state-dir DIR";
  if (problem !== undefined) return [{ field, found: `${path}: ${problem}`, instead }];
  if (freeBytes < leastBytes) {
    const free = Math.floor(freeBytes / 2 ** 20);
    const found = `${path} has ${free} MiB of free space, and a guest needs ${leastBytes / 2 ** 20}`;
    return [{ field, found, instead: `free some, or ${instead}` }];
  }
  if (freeFiles !== undefined && freeFiles < leastFiles) {
    const found = `${path} has room for ${freeFiles} more files, and a guest needs ${leastFiles}`;
    return [{ field, found, instead: `remove some, or ${instead}` }];
  }
  return [];
}
