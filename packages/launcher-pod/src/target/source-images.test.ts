import { expect, test } from "vitest";
import type { ExistingPod } from "../pod/pod.ts";
import { testVmi } from "../testing/render.ts";
import { sourceImages } from "./source-images.ts";

const vmi = testVmi({
  spec: {
    volumes: [
      { name: "root", containerDisk: { image: "host:5000/disk:v1" } },
      { name: "constructor", containerDisk: { image: "plain" } },
      { name: "other", emptyDisk: { capacity: "1Gi" } },
    ],
  },
  domain: { firmware: { kernelBoot: { container: { image: "k@sha256:old" } } } },
});

const images = (source: ExistingPod, imageVolumes: boolean): Record<string, string> =>
  Object.fromEntries(sourceImages(vmi, source, imageVolumes));

test("leaves images without a status unchanged", () => {
  expect(images({}, false)).toEqual({
    root: "host:5000/disk:v1",
    constructor: "plain",
    "kernel-boot-volume": "k@sha256:old",
  });
});

test("a digest replaces tag or digest; a port is not a tag", () => {
  const status = (volume: string): object => ({
    name: `volume${volume}`,
    imageID: "docker-pullable://x@sha256:abc",
  });
  const containerStatuses = ["root", "constructor", "kernel-boot-volume", "unknown"].map(status);
  const source = { status: { containerStatuses } } as ExistingPod;
  expect(images(source, false)).toEqual({
    root: "host:5000/disk@sha256:abc",
    constructor: "plain@sha256:abc",
    "kernel-boot-volume": "k@sha256:abc",
  });
});

test("with image volumes, init containers and the Pod's own volumes show digests", () => {
  const source: ExistingPod = {
    spec: {
      volumes: [
        { name: "constructor", image: { reference: "plain@sha256:pinned" } },
        { name: "root", image: { reference: "untagged" } },
        { name: "stranger", image: { reference: "x@sha256:1" } },
      ],
    },
    status: { initContainerStatuses: [{ name: "volumeroot", imageID: "sha256:init" }] },
  };
  expect(images(source, true)).toMatchObject({
    root: "host:5000/disk@sha256:init",
    constructor: "plain@sha256:pinned",
  });
  expect(images(source, false)).toMatchObject({ root: "host:5000/disk:v1", constructor: "plain" });
});

test("refuses a status without a digest: the target might run another image", () => {
  const containerStatuses = [{ name: "volumeroot", imageID: "rubbish" }];
  expect(() => images({ status: { containerStatuses } }, false)).toThrow(
    expect.objectContaining({ code: "LAUNCHER_POD_SOURCE_INVALID" }),
  );
});
