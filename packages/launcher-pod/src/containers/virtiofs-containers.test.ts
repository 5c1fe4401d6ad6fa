import type { Volume } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { claim, container, render } from "../testing/render.ts";

const objects = { persistentVolumeClaims: [claim("files")] };

function virtiofsd(volume: Omit<Volume, "name">): ReturnType<typeof container> {
  const volumes = [{ name: "v", ...volume }];
  const devices = { filesystems: [{ name: "v", virtiofs: {} }] };
  return container(render({ spec: { volumes }, devices }, { objects }), "virtiofs-v");
}

test.each<[string, Omit<Volume, "name">, string]>([
  ["a claim", { persistentVolumeClaim: { claimName: "files" } }, "/v"],
  ["a configMap", { configMap: { name: "c" } }, "/var/run/kubevirt-private/config-map/v"],
  ["a secret", { secret: { secretName: "s" } }, "/var/run/kubevirt-private/secret/v"],
  ["a downwardAPI volume", { downwardAPI: {} }, "/var/run/kubevirt-private/downwardapi/v"],
])("shares %s from where it is mounted", (_, volume, directory) => {
  const found = virtiofsd(volume);
  expect(found?.args).toContain(`--shared-dir=${directory}`);
  expect(found?.volumeMounts).toContainEqual({ name: "v", mountPath: directory });
});

test("a service account is mounted by the kubelet and shown as root's", () => {
  const found = virtiofsd({ serviceAccount: { serviceAccountName: "a" } });
  expect(found?.args).toContain("--translate-uid=host:107:0:1");
  expect(found?.volumeMounts?.map(({ name }) => name)).toEqual(["virtiofs-containers"]);
});

test("a path of a container gets its virtiofsd elsewhere", () => {
  expect(virtiofsd({ containerPath: { path: "/x" } })).toBeUndefined();
});

test("QEMU finds the sockets in a directory that both mount", () => {
  const pod = render({ devices: { filesystems: [{ name: "v", virtiofs: {} }] } });
  expect(pod.spec.volumes).toContainEqual({ name: "virtiofs-containers", emptyDir: {} });
  expect(render({}).spec.volumes).not.toContainEqual({ name: "virtiofs-containers", emptyDir: {} });
});
