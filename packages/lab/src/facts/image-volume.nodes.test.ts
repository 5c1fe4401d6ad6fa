import { expect, test } from "vitest";
import { attachCluster } from "../cluster/attach-cluster.ts";
import { createNamespace } from "../cluster/cluster-namespace.ts";
import { testImages } from "../cluster/test-images.ts";
import { idle, shell } from "../testing/shell-container.ts";

test("files of an image volume keep their owner and are read-only", async () => {
  await using namespace = await createNamespace(attachCluster());
  await namespace.createPod("reader", {
    containers: [shell(idle, { volumeMounts: [{ name: "disk", mountPath: "/image" }] })],
    volumes: [{ name: "disk", image: { reference: testImages.disk, pullPolicy: "IfNotPresent" } }],
  });
  await namespace.untilReady("reader");
  const file = "/image/disk/disk.qcow2";
  expect(await namespace.exec("reader", "stat", "-c", "%u %F", file)).toBe("107 regular file\n");
  expect(await namespace.exec("reader", "head", "-c", "3", file)).toBe("QFI");
  await expect(namespace.exec("reader", "touch", "/image/new")).rejects.toThrow(
    "Read-only file system",
  );
});

test("a volume whose image is missing keeps the Pod waiting, with a reason", async () => {
  await using namespace = await createNamespace(attachCluster());
  const reference = "localhost/virtkit/absent:1";
  await namespace.createPod("waiting", {
    containers: [shell(idle, { volumeMounts: [{ name: "disk", mountPath: "/image" }] })],
    volumes: [{ name: "disk", image: { reference, pullPolicy: "Never" } }],
  });
  const { status } = await namespace.untilPod("waiting", (pod) =>
    Boolean(pod.status.containerStatuses?.[0]?.state.waiting?.reason.startsWith("ErrImage")),
  );
  expect(status.phase).toBe("Pending");
  expect(status.containerStatuses?.[0]?.state.waiting?.reason).toBe("ErrImageNeverPull");
});
