import { expect, test } from "vitest";
import { render } from "../testing/render.ts";
import { vmiIdentifier } from "./vmi-identifier.ts";

test("copies the VMI's labels to the Pod, except those that say whose Pod it is", () => {
  const labels = { mine: "1", "kubevirt.io": "other" };
  const annotations = { "sidecar.istio.io/inject": "true" };
  expect(render({ metadata: { labels, annotations } }).metadata.labels).toEqual({
    mine: "1",
    "kubevirt.io": "virt-launcher",
    "kubevirt.io/created-by": "uid-1",
    "vm.kubevirt.io/name": "guest",
    "vmi.kubevirt.io/id": "guest",
    "sidecar.istio.io/inject": "true",
  });
});

test.each([
  ["a.b.c", undefined, "a"],
  ["x".repeat(70), undefined, "x".repeat(63)],
  ["guest", "host", "host"],
])("the host name of %s with spec.hostname %s is %s", (name, hostname, expected) => {
  const pod = render({ metadata: { name }, spec: hostname ? { hostname } : {} });
  expect([pod.spec.hostname, pod.metadata.labels?.["vm.kubevirt.io/name"]]).toEqual([
    expected,
    expected,
  ]);
});

test("an identifier is the name, or its start and its SHA-1", () => {
  expect(vmiIdentifier("a".repeat(63))).toBe("a".repeat(63));
  // printf 'a%.0s' {1..64} | sha1sum
  expect(vmiIdentifier("a".repeat(64))).toBe(`${"a".repeat(54)}-0098ba82`);
});
