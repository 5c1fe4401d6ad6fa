import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import type { Pod, PodVolume } from "@virtkit/launcher-pod";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type DataObject, makeVolumes } from "./pod-volumes.ts";
import { requirePodPaths } from "./require-pod-paths.ts";

let directory: string;
let podFolder: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "virtkit-volumes-"));
  podFolder = join(directory, "state/pods/uid");
  mkdirSync(podFolder, { recursive: true });
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

function podWith(volume: PodVolume): Pod {
  const volumeMounts = [{ name: volume.name, mountPath: "/mnt/x" }];
  const containers = [{ name: "compute", volumeMounts }];
  return { metadata: { name: "pod" }, spec: { volumes: [volume], containers } } as unknown as Pod;
}

async function make(volume: PodVolume, objects: readonly DataObject[] = []) {
  const pod = podWith(volume);
  const [container] = pod.spec.containers;
  if (!container) throw new Error("no container");
  return await makeVolumes(podFolder, pod, container, { objects });
}

const secret = (name: string, data: Record<string, string>): DataObject => ({
  kind: "Secret",
  metadata: { name },
  stringData: data,
});

test("rejects a Secret whose name leads out of the Pod's folder, and would have been written there", async () => {
  const outside = join(directory, "outside-access-cred");
  const name = relative(join(podFolder, "volumes/kubernetes.io~secret"), outside);
  const volume = { name, secret: { secretName: "s" } };
  expect(() => requirePodPaths(podWith(volume))).toThrow(
    expect.objectContaining({ code: "AGENT_VMI_INVALID" }),
  );
  expect(existsSync(outside)).toBe(false);
  // Control: without that check the same Pod gives a folder of the host, and the Secret's content, to the launcher.
  await make(volume, [secret("s", { key: "value" })]);
  expect(readdirSync(outside)).toEqual(["key"]);
  expect(statSync(outside).gid).toBe(107);
});

test.each(["../x", "..", "a/b"])("writes no file for the key %j", async (key) => {
  const volume = { name: "v", secret: { secretName: "s" } };
  await expect(make(volume, [secret("s", { [key]: "x" })])).rejects.toMatchObject({
    code: "AGENT_SANDBOX",
  });
  const fields = [{ path: key, fieldRef: { fieldPath: "metadata.name" } }];
  await expect(make({ name: "d", downwardAPI: { items: fields } })).rejects.toMatchObject({
    code: "AGENT_SANDBOX",
  });
  expect(readdirSync(podFolder, { recursive: true })).not.toContainEqual(
    expect.stringMatching(/(x|b)$/),
  );
});

test("never mounts or creates a path of the host", async () => {
  const path = join(directory, "host/disks");
  const mounts = await make({ name: "v", hostPath: { path, type: "DirectoryOrCreate" } });
  expect(mounts).toEqual([
    expect.objectContaining({ source: join(podFolder, "volumes/kubernetes.io~host-path/v") }),
  ]);
  expect(existsSync(path)).toBe(false);
});
