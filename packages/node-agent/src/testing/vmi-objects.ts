import { crds } from "@virtkit/api/crd";
import { encodeGrant, type Grant, grantAnnotation } from "@virtkit/api/grant";
import { names as namesOf } from "@virtkit/api/names";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { KubeObject } from "@virtkit/kube";
import type { MachineIdentity } from "../service/own-node.ts";

const names = namesOf();

/** What an API server must have before an agent of a node can work with it: the definition of VMIs, and the Node. */
export function nodeObjects(nodeName: string, nodeInfo: MachineIdentity): readonly KubeObject[] {
  const definition = crds({ group: "kubevirt.io" }).find(
    ({ spec }) => spec.names.kind === "VirtualMachineInstance",
  );
  const node = { apiVersion: "v1", kind: "Node", metadata: { name: nodeName } };
  return [definition, { ...node, status: { nodeInfo } }] as unknown as KubeObject[];
}

/** A VMI that a controller has handed to a node. */
export function scheduledVmi(
  name: string,
  nodeName: string,
  change: Partial<VirtualMachineInstance["spec"]> = {},
): KubeObject {
  return {
    ...{ apiVersion: "kubevirt.io/v1", kind: "VirtualMachineInstance" },
    metadata: {
      ...{ name, namespace: "default", labels: { [names.labels.nodeName]: nodeName } },
      finalizers: ["kubevirt.io/foregroundDeleteVirtualMachine"],
    },
    spec: {
      domain: { memory: { guest: "64Mi" }, devices: {} },
      terminationGracePeriodSeconds: 30,
      ...change,
    },
    status: { phase: "Scheduled", nodeName, runtimeUser: 107 },
  } as KubeObject;
}

/** The Pod of a VMI's launcher. */
export function launcherPod(
  podName: string,
  nodeName: string,
  vmi: { readonly name: string; readonly uid: string },
): KubeObject {
  const owner = { apiVersion: "kubevirt.io/v1", kind: "VirtualMachineInstance", controller: true };
  return {
    ...{ apiVersion: "v1", kind: "Pod" },
    metadata: {
      ...{ name: podName, namespace: "default", labels: { [names.labels.app]: "virt-launcher" } },
      ownerReferences: [{ ...owner, ...vmi }],
    },
    spec: { nodeName, containers: [{ name: "compute", image: "x" }] },
  } as KubeObject;
}

/** A Pod that brings volumes to a launcher's node; the launcher Pod owns it. */
export function attachmentPodObject(
  podName: string,
  nodeName: string,
  launcherUid: string,
): KubeObject {
  const owner = { apiVersion: "v1", kind: "Pod", name: "launcher", controller: true };
  return {
    ...{ apiVersion: "v1", kind: "Pod" },
    metadata: {
      ...{ name: podName, namespace: "default", labels: { [names.labels.app]: "hotplug-disk" } },
      ownerReferences: [{ ...owner, uid: launcherUid }],
    },
    spec: { nodeName, containers: [{ name: "hotplug-disk", image: "x" }] },
  } as KubeObject;
}

/** The status of a Pod whose launcher the kubelet has started. */
export function startedPodStatus(containerID: string, ip = "10.1.0.5"): object {
  return {
    podIPs: [{ ip }],
    containerStatuses: [
      {
        ...{ name: "compute", image: "x", imageID: "", ready: true, restartCount: 0, containerID },
        state: { running: {} },
      },
    ],
  };
}

/** The annotation by which a controller lets a Pod claim a VMI. */
export function grantedTo(vmiUID: string, podUID: string): Readonly<Record<string, string>> {
  const grant: Grant = { state: "Granted", vmiUID, epoch: 1, seq: 1, podUID };
  return { [names.own(grantAnnotation)]: encodeGrant(grant) };
}
