import type { VirtualMachineInstance, Volume } from "@virtkit/api/schema";
import type { Refusal } from "@virtkit/node-agent/errors";
import type { ClaimFact, LocalFacts } from "./local-facts.ts";
import { launcherUid } from "./pod-volumes.ts";

/** What local mode does not support of a VMI's volumes; host disks have their own rules. */
export function volumeRefusals(vmi: VirtualMachineInstance, facts: LocalFacts): Refusal[] {
  const volumes = vmi.spec.volumes ?? [];
  const uses = claimUses(vmi);
  return [
    ...volumes.flatMap((volume, at) => clusterRefusals(volume, `spec.volumes[${at}]`)),
    ...(vmi.spec.utilityVolumes ?? []).map(({ claimName }, at) => ({
      field: `spec.utilityVolumes[${at}]`,
      found: `the claim "${claimName}" exists only in a cluster, and the guest would not see it`,
      instead: "remove it",
    })),
    ...uses.flatMap((use) => claimRefusals(use, facts)),
    ...Object.entries(facts.claims).flatMap(([name, claim]) => fileRefusals(name, claim, uses)),
    ...volumes.flatMap((volume, at) => imageRefusals(volume, `spec.volumes[${at}]`, facts)),
    ...objectRefusals(vmi, facts),
  ];
}

function clusterRefusals(
  { memoryDump, serviceAccount, containerPath }: Volume,
  field: string,
): Refusal[] {
  const refusal = (kind: string, found: string): Refusal[] => [
    { field: `${field}.${kind}`, found, instead: "remove it" },
  ];
  if (memoryDump) return refusal("memoryDump", "local mode does not dump the guest's memory");
  if (serviceAccount) return refusal("serviceAccount", "its token exists only in a cluster");
  if (containerPath) {
    return refusal("containerPath", "local mode has no containers beside the launcher");
  }
  return [];
}

/** A volume on a claim. */
export interface ClaimUse {
  readonly volume: string;
  readonly field: string;
  readonly claim: string;
  readonly hotpluggable: boolean;
  /** Whether the guest's writes reach the claim. */
  readonly writes: boolean;
}

/** The volumes of a VMI that are on claims. */
export function claimUses({ spec }: VirtualMachineInstance): readonly ClaimUse[] {
  return (spec.volumes ?? []).flatMap((volume, at) => {
    const { persistentVolumeClaim: claim, dataVolume, ephemeral } = volume;
    const field = `spec.volumes[${at}]`;
    const use = (kind: string, name: string | undefined, writes: boolean, plugs = false) => [
      { volume: volume.name, field: field + kind, claim: name ?? "", hotpluggable: plugs, writes },
    ];
    if (claim) {
      const { claimName, readOnly, hotpluggable } = claim;
      return use(".persistentVolumeClaim", claimName, readOnly !== true, hotpluggable);
    }
    if (dataVolume) return use(".dataVolume", dataVolume.name, true, dataVolume.hotpluggable);
    if (!ephemeral) return [];
    const kind = ".ephemeral.persistentVolumeClaim";
    return use(kind, ephemeral.persistentVolumeClaim?.claimName, false);
  });
}

function claimRefusals(
  { field, claim, hotpluggable }: ClaimUse,
  { claims }: LocalFacts,
): Refusal[] {
  const refusals: Refusal[] = [];
  if (!Object.hasOwn(claims, claim)) {
    refusals.push({
      field,
      found: `"${claim}" is a claim, which exists only in a cluster`,
      instead: `pass its disk with --pvc ${claim}=DISK.img`,
    });
  }
  if (hotpluggable) {
    refusals.push({
      field: `${field}.hotpluggable`,
      found: "local mode does not plug volumes into a running guest",
      instead: "remove it",
    });
  }
  return refusals;
}

/** What is wrong with a given file, considering all its uses. */
function fileRefusals(
  name: string,
  { path, problem, readable, writable }: ClaimFact,
  uses: readonly ClaimUse[],
): Refusal[] {
  const field = `--pvc ${name}`;
  const its = uses.filter(({ claim }) => claim === name);
  if (its.length === 0) {
    const found = "no volume of the VMI uses this claim";
    return [{ field, found, instead: "leave the option out, or correct the name" }];
  }
  if (problem) return [{ field, ...problem }];
  const writers = its.filter(({ writes }) => writes);
  const refusals: Refusal[] = [];
  if (writers.length > 0 && its.length > 1) {
    refusals.push({
      field,
      found: `the volumes ${its.map(({ volume }) => volume).join(", ")} share it, and one of them is writable`,
      instead: "use a separate claim for each, or make them readOnly",
    });
  }
  const writes = writers.length > 0;
  if (!readable || (writes && !writable)) {
    const access = writes ? "rw" : "r";
    refusals.push({
      field,
      found: `${path} cannot be ${readable ? "written" : "read"} by the guest's user ${launcherUid}`,
      instead: `run: setfacl -m u:${launcherUid}:${access} ${path}, or: chown ${launcherUid} ${path} (virtkit never changes owners)`,
    });
  }
  return refusals;
}

function imageRefusals(
  { containerDisk }: Volume,
  field: string,
  { images }: LocalFacts,
): Refusal[] {
  if (!containerDisk) return [];
  const { path, problem } = images[containerDisk.image] ?? {};
  if (problem) return [{ field: `${field}.containerDisk.image`, ...problem }];
  const only = path === undefined ? undefined : `/disk/${path.slice(path.lastIndexOf("/") + 1)}`;
  const wanted = containerDisk.path;
  if (!wanted || only === undefined || wanted === only) return [];
  return [
    {
      field: `${field}.containerDisk.path`,
      found: `local mode's image has one file, ${only}, not ${wanted}`,
      instead: "remove the path, or give the file that name",
    },
  ];
}

interface WantedObject {
  readonly kind: "Secret" | "ConfigMap";
  readonly name: string | undefined;
  readonly field: string;
}

function objectRefusals(vmi: VirtualMachineInstance, { objects }: LocalFacts): Refusal[] {
  const wanted = [...volumeObjects(vmi), ...credentialSecrets(vmi)];
  return wanted.flatMap(({ kind, name, field }) => {
    if (!name || objects.includes(`${kind}/${name}`)) return [];
    const found = `there is no ${kind} "${name}"`;
    return [{ field, found, instead: "add it to the manifest file" }];
  });
}

function volumeObjects({ spec }: VirtualMachineInstance): WantedObject[] {
  return (spec.volumes ?? []).flatMap((volume, at) =>
    [...configObjects(volume), ...cloudInitSecrets(volume)].map(({ field, ...wanted }) => ({
      ...wanted,
      field: `spec.volumes[${at}].${field}`,
    })),
  );
}

function configObjects({ secret, configMap, sysprep }: Volume): WantedObject[] {
  const wanted = (kind: WantedObject["kind"], field: string, name?: string): WantedObject[] => [
    { kind, name, field },
  ];
  if (secret?.optional || configMap?.optional) return [];
  if (secret) return wanted("Secret", "secret.secretName", secret.secretName);
  if (configMap) return wanted("ConfigMap", "configMap.name", configMap.name);
  if (sysprep?.secret) return wanted("Secret", "sysprep.secret.name", sysprep.secret.name);
  if (!sysprep?.configMap) return [];
  return wanted("ConfigMap", "sysprep.configMap.name", sysprep.configMap.name);
}

function cloudInitSecrets(volume: Volume): WantedObject[] {
  return (["cloudInitNoCloud", "cloudInitConfigDrive"] as const).flatMap((kind) =>
    (["secretRef", "networkDataSecretRef"] as const).flatMap((key): WantedObject[] => {
      const reference = volume[kind]?.[key];
      if (!reference) return [];
      return [{ kind: "Secret", name: reference.name, field: `${kind}.${key}.name` }];
    }),
  );
}

function credentialSecrets({ spec }: VirtualMachineInstance): WantedObject[] {
  return (spec.accessCredentials ?? []).flatMap((credential, at) =>
    (["sshPublicKey", "userPassword"] as const).flatMap((kind): WantedObject[] => {
      const name = credential[kind]?.source?.secret?.secretName;
      const field = `spec.accessCredentials[${at}].${kind}.source.secret.secretName`;
      return name ? [{ kind: "Secret", name, field }] : [];
    }),
  );
}
