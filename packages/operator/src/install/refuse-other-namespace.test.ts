import type { KubeObject } from "@virtkit/kube";
import { InProcessApiServer } from "@virtkit/testing/api-server";
import { expect, test } from "vitest";
import { manifests } from "../manifests/manifests.ts";
import { install } from "./install.ts";
import { resourceOf } from "./resource-of.ts";
import { uninstall } from "./uninstall.ts";

const image = "registry.example/virtkit:1.0.0";

test("an installation in another namespace is neither taken over nor removed, and the refusal names it", async () => {
  const client = new InProcessApiServer().client("test");
  const api = manifests({ image, namespace: "vms" }).find(
    ({ kind, metadata }) => kind === "Deployment" && metadata.name === "virt-api",
  ) as KubeObject;
  const space = { apiVersion: "v1", kind: "Namespace", metadata: { name: "vms" } };
  await client.create(resourceOf(space), space);
  await client.create(resourceOf(api), api);
  const refusal = {
    code: "OPERATOR_OTHER_NAMESPACE",
    message: "the components are installed in namespace vms, not in kubevirt; use --namespace vms",
  };
  await expect(install({ client, image }).next()).rejects.toMatchObject(refusal);
  await expect(uninstall({ client, force: true }).next()).rejects.toMatchObject(refusal);
  expect((await client.list(resourceOf(api))).items).toHaveLength(1);
  // The control: in its own namespace both go on.
  expect((await install({ client, image, namespace: "vms" }).next()).value).toMatch(/^applying /);
  const { value } = await uninstall({ client, namespace: "vms" }).next();
  expect(value).toBe("the components have ended");
});
