import { expect, test } from "vitest";
import { container, render } from "../testing/render.ts";

test.each(["cloudInitNoCloud", "cloudInitConfigDrive"] as const)(
  "mounts secrets of %s under both spellings of their key",
  (kind) => {
    const source = { secretRef: { name: "user" }, networkDataSecretRef: { name: "net" } };
    const pod = render({ spec: { volumes: [{ name: "ci", [kind]: source }] } });
    expect(pod.spec.volumes).toEqual(
      expect.arrayContaining([
        { name: "ci-udata", secret: { secretName: "user" } },
        { name: "ci-ndata", secret: { secretName: "net" } },
      ]),
    );
    const mounts = container(pod, "compute")?.volumeMounts?.filter(({ subPath }) => subPath);
    expect(
      mounts?.map(({ mountPath, readOnly }) => [mountPath.split("/").pop(), readOnly]),
    ).toEqual([
      ["userdata", true],
      ["userData", true],
      ["networkdata", true],
      ["networkData", true],
    ]);
  },
);

test("data in the VMI itself needs no volume", () => {
  const plain = render({});
  const pod = render({ spec: { volumes: [{ name: "ci", cloudInitNoCloud: { userData: "x" } }] } });
  expect(pod.spec.volumes).toEqual(plain.spec.volumes);
});
