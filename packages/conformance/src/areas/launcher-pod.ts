import {
  type Toleration,
  TolerationSchema,
  type VirtualMachineInstance,
  type VirtualMachineInstanceMigration,
  VirtualMachineInstanceSchema,
  type Volume,
  VolumeSchema,
} from "@virtkit/api/schema";
import { at } from "@virtkit/api/shape";
import {
  type ClusterObjects,
  type ExistingPod,
  kubevirtLauncherProfile,
  lookupIn,
  memoryOverhead,
  type PersistentVolumeClaim,
  type Pod,
  renderHotplugPod,
  renderHotplugTriggerPod,
  renderLauncherPod,
  renderTargetTemplate,
} from "@virtkit/launcher-pod";
import type { BatchFunction } from "../batch/batch-area.ts";
import { readAsGo, writeAsGo } from "./go-form.ts";
import { InputError, listField, objectField, textField } from "./input-fields.ts";
import { contextConfig, requestContext } from "./request-context.ts";

/** The installation for which the recorded Pods were rendered. */
const profile = kubevirtLauncherProfile({
  image: "quay.io/kubevirt/virt-launcher:v1.9.0",
  imagePullSecret: "pull-secret-1",
});

interface LauncherPodInput {
  readonly vmi: VirtualMachineInstance;
  readonly migration: VirtualMachineInstanceMigration;
  readonly claims?: Readonly<Record<string, PersistentVolumeClaim>>;
  readonly isBlock?: boolean;
  readonly tempPod?: boolean;
}

/** The fields of a request; `null` and empty values in the VMI count as missing, as in Go. */
const read = (input: unknown): LauncherPodInput => {
  const fields = Object(input) as LauncherPodInput;
  const vmi = readAsGo(fields.vmi, VirtualMachineInstanceSchema);
  return {
    ...fields,
    vmi: writeAsGo(vmi, VirtualMachineInstanceSchema) as VirtualMachineInstance,
  };
};

const lookup = (context: unknown): ReturnType<typeof lookupIn> => {
  const lists = Object.entries(requestContext(context).objects ?? {}).map(([name]) => [
    name,
    listField<object>(at(context, "objects"), name, "context.objects").map((object) => ({
      ...object,
      metadata: at(object, "metadata") ?? {},
    })),
  ]);
  return lookupIn(Object.fromEntries(lists) as ClusterObjects);
};

const readVolumes = (input: unknown): readonly Volume[] =>
  listField(input, "volumes").map((volume) => writeAsGo(volume, VolumeSchema) as Volume);

/** The launcher Pod of a request for hotplug. */
const readOwner = (input: unknown): ExistingPod => {
  const pod = objectField(input, "ownerPod") as ExistingPod;
  const spec = Object(pod.spec) as NonNullable<ExistingPod["spec"]>;
  const tolerations = listField(spec, "tolerations", "input.ownerPod.spec").map(
    (toleration) => writeAsGo(toleration, TolerationSchema) as Toleration,
  );
  return { ...pod, spec: { ...spec, tolerations } };
};

const renderLaunch =
  (temporary: boolean): BatchFunction =>
  (input, context) => {
    const { vmi } = read(input);
    const config = contextConfig(context);
    const pod = renderLauncherPod(vmi, config, lookup(context), { profile, temporary });
    return { memoryOverhead: overhead(vmi, context), pod: wirePod(pod) };
  };

/** The functions of area `launcher-pod`. */
export const functions: Readonly<Record<string, BatchFunction>> = {
  renderLaunchManifest: renderLaunch(false),

  renderLaunchManifestNoVm: renderLaunch(true),

  renderMigrationManifest: (input, context) => {
    const { vmi, migration } = read(input);
    const sourcePod = objectField(input, "sourcePod") as ExistingPod;
    const config = contextConfig(context);
    const found = lookup(context);
    const pod = renderTargetTemplate(vmi, migration, sourcePod, config, found, { profile });
    return { memoryOverhead: overhead(vmi, context), pod: wirePod(pod) };
  },

  renderHotplugAttachmentPod: (input, context) => {
    const { vmi, claims } = read(input);
    const launcherPod = readOwner(input);
    const volumes = readVolumes(input);
    const request = { vmi, volumes, launcherPod, claims: new Map(Object.entries(claims ?? {})) };
    return {
      pod: wirePod(renderHotplugPod(request, contextConfig(context), { profile })),
    };
  },

  renderHotplugAttachmentTriggerPod: (input, context) => {
    const { vmi, isBlock, tempPod } = read(input);
    const [volume] = readVolumes(input);
    if (!volume) throw new InputError("input.volumes", "is empty; pass the volume to attach");
    const trigger = {
      vmi,
      volume,
      claimName: textField(input, "pvcName"),
      block: isBlock === true,
      launcherPod: readOwner(input),
      temporary: tempPod === true,
    };
    return {
      pod: wirePod(renderHotplugTriggerPod(trigger, contextConfig(context), { profile })),
    };
  },

  memoryOverhead: (input, context) => ({ memoryOverhead: overhead(read(input).vmi, context) }),
};

function overhead(vmi: VirtualMachineInstance, context: unknown): unknown {
  const { total } = memoryOverhead(vmi, contextConfig(context), profile);
  return { bytes: Number(total.value()), quantity: total.toString() };
}

/** A Pod as it is recorded: the request that creates it says its kind and namespace. */
function wirePod({ metadata, spec }: Pod): unknown {
  const { namespace: _, ...rest } = metadata;
  return { metadata: rest, spec, status: {} };
}
