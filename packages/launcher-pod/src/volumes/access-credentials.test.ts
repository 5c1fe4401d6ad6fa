import { expect, test } from "vitest";
import { container, render } from "../testing/render.ts";

test("mounts secrets with keys and passwords, and skips a credential without one", () => {
  const pod = render({
    spec: {
      accessCredentials: [
        {
          sshPublicKey: {
            source: { secret: { secretName: "keys" } },
            propagationMethod: { noCloud: {} },
          },
        },
        {
          userPassword: {
            source: { secret: { secretName: "words" } },
            propagationMethod: { qemuGuestAgent: {} },
          },
        },
        { sshPublicKey: { source: {}, propagationMethod: { noCloud: {} } } },
      ],
    },
  });
  const names = pod.spec.volumes?.map(({ name }) => name).filter((name) => /cred/.test(name));
  expect(names).toEqual(["keys-access-cred", "words-access-cred"]);
  expect(container(pod, "compute")?.volumeMounts).toContainEqual({
    name: "keys-access-cred",
    readOnly: true,
    mountPath: "/var/run/kubevirt-private/secret/keys-access-cred",
  });
});
