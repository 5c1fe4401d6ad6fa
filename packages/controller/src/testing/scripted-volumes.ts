import { names as namesOf } from "@virtkit/api/names";
import type { VirtualMachineInstance, VolumeStatus } from "@virtkit/api/schema";
import { text } from "@virtkit/api/shape";
import { isFinal } from "@virtkit/api/status";
import { isConflict, isNotFound, type KubeObject } from "@virtkit/kube";
import { Cache } from "@virtkit/kube/cache";
import { createController, watch } from "@virtkit/kube/controller";
import type { ActorContext } from "@virtkit/testing/faults";
import { podResource, vmiResource } from "../plan/resources.ts";
import type { PodObject } from "../vmi/cluster-objects.ts";

type Vmi = VirtualMachineInstance & KubeObject;
type Pod = PodObject & KubeObject;

/**
 * What node agents do with hotplugged volumes, as a script: a volume is mounted once a running
 * attachment Pod has it, the guest sees it, and it is unmounted once it has left the spec.
 */
export class ScriptedVolumes {
  readonly #mounted = new Set<string>();

  /** The volumes that guests use now. */
  get mounted(): ReadonlySet<string> {
    return this.#mounted;
  }

  async run({ client, clock, random, signal }: Omit<ActorContext, "wall">): Promise<void> {
    const kind = vmiResource(namesOf());
    const vmis = new Cache<Vmi>(kind as never);
    const pods = new Cache<Pod>(podResource as never);
    const ofAll = () => {
      const all = vmis.list();
      return all.state === "complete" ? all.objects.map(({ metadata }) => metadata) : [];
    };
    await createController({
      ...{ name: "volumes", client, clock, random },
      watches: [watch(vmis), watch(pods, { keys: ofAll as never })],
      reconcile: async (name) => {
        const found = vmis.get(name);
        const all = pods.list();
        if (found.state !== "present" || all.state !== "complete") return;
        const { metadata } = found.object;
        const status = this.#status(found.object, all.objects);
        if (!status) return;
        const { uid, resourceVersion } = metadata;
        const body = { metadata: { uid, resourceVersion }, status };
        await client.patch(kind, name, { type: "merge", body }).catch((error: unknown) => {
          // The next event shows what was written meanwhile.
          if (!isConflict(error) && !isNotFound(error)) throw error;
        });
      },
    }).run({ signal });
  }

  /** What must be written about a VMI. */
  #status(vmi: Vmi, pods: readonly Pod[]): object | undefined {
    const { status, spec } = vmi;
    if (isFinal(vmi) || vmi.metadata.deletionTimestamp) this.#mounted.clear();
    else if (status?.phase === "Running") {
      if (!status.selinuxContext) return { selinuxContext: "none" };
      const wanted = new Set((spec.volumes ?? []).map(({ name }) => name));
      const before = status.volumeStatus ?? [];
      const after = before.map((each) => this.#step(each, wanted.has(each.name), pods));
      if (after.some((each, index) => each !== before[index])) return { volumeStatus: after };
    }
    return undefined;
  }

  #step(status: VolumeStatus, isWanted: boolean, pods: readonly Pod[]): VolumeStatus {
    const { name, phase, hotplugVolume } = status;
    if (!hotplugVolume) return status;
    const uid = text(hotplugVolume.attachPodUID);
    const pod = pods.find(({ metadata }) => uid !== "" && metadata.uid === uid);
    if (!isWanted && (phase === "MountedToPod" || phase === "Ready")) {
      this.#mounted.delete(name);
      return { ...status, phase: "UnMountedFromPod" };
    }
    if (isWanted && phase === "AttachedToNode" && pod?.status?.phase === "Running") {
      this.#mounted.add(name);
      return { ...status, phase: "MountedToPod" };
    }
    return isWanted && phase === "MountedToPod"
      ? { ...status, phase: "Ready", target: "sda" }
      : status;
  }
}
