import { KubeError } from "@virtkit/kube";
import { expect, test } from "vitest";
import { installedProjects } from "./installed-projects.ts";

const answering = (groups: readonly string[], status = 404) => ({
  async request({ path }: { readonly path: string }) {
    if (groups.some((group) => path.startsWith(`/apis/${group}/`))) {
      return { status: 200, headers: {}, body: "{}" };
    }
    throw new KubeError("KUBE_STATUS", "the server could not find it", { status });
  },
});

type Client = Parameters<typeof installedProjects>[0];

test("finds projects by the groups of the server", async () => {
  const asked = (groups: readonly string[]) =>
    installedProjects(answering(groups) as unknown as Client);
  expect(await asked([])).toEqual({ cdi: false, multus: false });
  expect(await asked(["cdi.kubevirt.io"])).toEqual({ cdi: true, multus: false });
  expect(await asked(["k8s.cni.cncf.io"])).toEqual({ cdi: false, multus: true });
});

test("a server that does not answer proves nothing", async () => {
  const silent = answering([], 503) as unknown as Client;
  await expect(installedProjects(silent)).rejects.toMatchObject({ status: 503 });
});
