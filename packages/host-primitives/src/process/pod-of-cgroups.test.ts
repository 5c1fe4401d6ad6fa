import { expect, test } from "vitest";
import { podOfCgroups } from "./pod-of-cgroups.ts";

const uid = "6a1a24a1-4061-4607-8bf4-a3963d0c5895";
const underscored = uid.replaceAll("-", "_");
const container = "0123456789abcdef".repeat(4);
const at = (...paths: string[]) =>
  podOfCgroups(paths.map((path, hierarchy) => ({ hierarchy, controllers: [], path })));

test.each([
  `/kubepods/burstable/pod${uid}/${container}`,
  `/kubepods/pod${uid}/${container}/housekeeping`,
  `/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod${underscored}.slice/cri-containerd-${container}.scope`,
  `/kubepods.slice/kubepods-pod${underscored}.slice/crio-${container}.scope/container`,
  `/kubelet/kubepods/besteffort/pod${uid}/${container}`,
  // As in kind, whose kubelets have `cgroupRoot: /kubelet`.
  `/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/kubelet-kubepods-burstable-pod${underscored}.slice/cri-containerd-${container}.scope`,
  `/a.slice/a-b.slice/a-b-kubepods.slice/a-b-kubepods-pod${underscored}.slice/crio-${container}.scope`,
])("%s is a container of the Pod", (path) => {
  expect(at("/", path)).toEqual({ podUid: uid, containerId: container });
});

test("the Pod's own cgroup has no container", () => {
  expect(at(`/kubepods/burstable/pod${uid}`)).toEqual({ podUid: uid });
});

test.each([
  "/",
  "/system.slice/kubelet.service",
  `/user.slice/pod${uid}`,
  `/kubepods/evil/pod${uid}/${container}`,
  `/kubepods/burstable/podx/pod${uid}`,
  `/kubepods/burstable/../pod${uid}`,
  `/kubelet.slice/kubelet-kubepods.slice/kubepods-pod${underscored}.slice/cri-containerd-${container}.scope`,
  `/kubepods.slice/kubelet-kubepods-pod${underscored}.slice/cri-containerd-${container}.scope`,
])("finds no Pod for %s", (path) => {
  expect(at(path)).toBeUndefined();
});

test("a container cannot pose as another Pod with a cgroup of its own", () => {
  const other = "aaaaaaaa-4061-4607-8bf4-a3963d0c5895";
  expect(at(`/kubepods/pod${uid}/${container}/kubepods/pod${other}`)?.podUid).toBe(uid);
  const slice = `/kubepods.slice/kubepods-pod${underscored}.slice/cri-containerd-${container}.scope`;
  const posing = `x-kubepods.slice/x-kubepods-pod${other.replaceAll("-", "_")}.slice`;
  expect(at(`${slice}/x.slice/${posing}`)?.podUid).toBe(uid);
  expect(at(`/kubepods/pod${uid}`, `/kubepods/pod${other}`)).toBeUndefined();
});
