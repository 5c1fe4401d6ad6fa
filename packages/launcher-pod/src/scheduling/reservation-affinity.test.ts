import { expect, test } from "vitest";
import { claim, render } from "../testing/render.ts";

const volumes = [
  { name: "a", persistentVolumeClaim: { claimName: "lun" } },
  { name: "b", dataVolume: { name: "other" } },
];
const objects = {
  persistentVolumeClaims: ["lun", "other"].map((name) => claim(name, { volumeMode: "Block" })),
};

test("guests that take reservations on the same claim keep apart", () => {
  const disks = [
    { name: "a", lun: { reservation: true } },
    { name: "b", lun: {} },
    { name: "unknown", lun: { reservation: true } },
  ];
  const pod = render({ spec: { volumes }, devices: { disks } }, { objects });
  const key = "pr.kubevirt.io/uid-of-lun";
  expect(pod.metadata.labels).toHaveProperty([key], "");
  expect(pod.spec.affinity?.podAntiAffinity).toEqual({
    requiredDuringSchedulingIgnoredDuringExecution: [
      {
        labelSelector: { matchExpressions: [{ key, operator: "Exists" }] },
        topologyKey: "kubernetes.io/hostname",
      },
    ],
  });
});

test("without reservations, keeps nobody away", () => {
  const disks = [{ name: "a", lun: {} }];
  const pod = render({ spec: { volumes }, devices: { disks } }, { objects });
  expect(pod.spec.affinity?.podAntiAffinity).toBeUndefined();
});
