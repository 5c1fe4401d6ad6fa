import {
  type VirtualMachineInstance,
  type VirtualMachineInstanceMigration,
  VirtualMachineInstanceSchema,
  type Volume,
} from "@virtkit/api/schema";
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
import type { BatchFunction } from "./batch-area.ts";
import { readAsGo } from "./go-form.ts";
import { listField } from "./input-fields.ts";
import { contextConfig, requestContext } from "./request-context.ts";

/** The installation for which the recorded Pods were rendered. */
const profile = kubevirtLauncherProfile({
  image: "quay.io/kubevirt/virt-launcher:v1.9.0",
  imagePullSecret: "pull-secret-1",
});

interface LauncherPodInput {
  readonly vmi: VirtualMachineInstance;
  readonly migration: VirtualMachineInstanceMigration;
  readonly sourcePod: ExistingPod;
  readonly ownerPod: ExistingPod;
  readonly claims?: Readonly<Record<string, PersistentVolumeClaim>>;
  readonly pvcName: string;
  readonly isBlock?: boolean;
  readonly tempPod?: boolean;
}

const read = (input: unknown): LauncherPodInput => {
  const fields = Object(input) as LauncherPodInput;
  const vmi = readAsGo(fields.vmi, VirtualMachineInstanceSchema) as VirtualMachineInstance;
  return { ...fields, vmi };
};

const lookup = (context: unknown): ReturnType<typeof lookupIn> =>
  lookupIn((requestContext(context).objects ?? {}) as ClusterObjects);

const renderLaunch =
  (temporary: boolean): BatchFunction =>
  (input, context) => {
    const { vmi } = read(input);
    const config = contextConfig(context);
    const pod = renderLauncherPod(vmi, config, lookup(context), { profile, temporary });
    return { memoryOverhead: overhead(vmi, context), pod: wirePod(pod) };
  };

/** The functions of oracle area `launcher-pod`. */
export const functions: Readonly<Record<string, BatchFunction>> = {
  renderLaunchManifest: renderLaunch(false),

  renderLaunchManifestNoVm: renderLaunch(true),

  renderMigrationManifest: (input, context) => {
    const { vmi, migration, sourcePod } = read(input);
    const config = contextConfig(context);
    const found = lookup(context);
    const pod = renderTargetTemplate(vmi, migration, sourcePod ?? {}, config, found, { profile });
    return { memoryOverhead: overhead(vmi, context), pod: wirePod(pod) };
  },

  renderHotplugAttachmentPod: (input, context) => {
    const { vmi, ownerPod: launcherPod = {}, claims } = read(input);
    const volumes = listField<Volume>(input, "volumes");
    const request = { vmi, volumes, launcherPod, claims: new Map(Object.entries(claims ?? {})) };
    return {
      pod: wirePod(renderHotplugPod(request, contextConfig(context), { profile })),
    };
  },

  renderHotplugAttachmentTriggerPod: (input, context) => {
    const { vmi, ownerPod: launcherPod = {}, pvcName: claimName, ...flags } = read(input);
    const [volume = { name: "" }] = listField<Volume>(input, "volumes");
    const { isBlock: block = false, tempPod: temporary = false } = flags;
    const trigger = { vmi, volume, claimName, block, launcherPod, temporary };
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
