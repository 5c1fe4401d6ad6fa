import type { Disk, Volume } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { container, render } from "../testing/render.ts";

const volumes: Volume[] = [
  { name: "s", secret: { secretName: "secret", optional: false } },
  { name: "c", configMap: { name: "map", optional: true } },
  { name: "d", downwardAPI: { fields: [{ path: "labels", fieldRef: { fieldPath: "x" } }] } },
];

test("volumes with configuration are volumes of the Pod", () => {
  expect(render({ spec: { volumes } }).spec.volumes).toEqual(
    expect.arrayContaining([
      { name: "s", secret: { secretName: "secret", optional: false } },
      { name: "c", configMap: { name: "map", optional: true } },
      { name: "d", downwardAPI: { items: [{ path: "labels", fieldRef: { fieldPath: "x" } }] } },
    ]),
  );
});

test("mounts only those that a disk shows, in the order of the disks", () => {
  const disks: Disk[] = [{ name: "d" }, { name: "none" }, { name: "s" }];
  const pod = render({ spec: { volumes }, devices: { disks } });
  const mounts = container(pod, "compute")?.volumeMounts?.filter(({ readOnly }) => readOnly);
  expect(mounts).toEqual([
    { name: "d", readOnly: true, mountPath: "/var/run/kubevirt-private/downwardapi/d" },
    { name: "s", readOnly: true, mountPath: "/var/run/kubevirt-private/secret/s" },
  ]);
});
