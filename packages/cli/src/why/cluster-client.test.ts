import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import type { Io } from "../io.ts";
import { chooseCluster } from "./cluster-client.ts";

const folder = mkdtempSync(join(tmpdir(), "virtkit-kubeconfig-"));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.unstubAllEnvs());

/** A kubeconfig with one cluster, user and context of the same name. */
function kubeconfig(file: string, name: string, server: string, current = name): string {
  const path = join(folder, file);
  writeFileSync(
    path,
    JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      "current-context": current,
      clusters: [{ name, cluster: { server } }],
      users: [{ name, user: { token: "t" } }],
      contexts: [{ name, context: { cluster: name, user: name, namespace: `of-${name}` } }],
    }),
  );
  return path;
}

const ioWith = (...files: readonly string[]): Io =>
  ({ env: { KUBECONFIG: files.join(delimiter) } }) as unknown as Io;

test("without a kubeconfig it says how to name one, and asks nobody", async () => {
  vi.stubEnv("HOME", folder);
  vi.stubEnv("KUBECONFIG", "");
  await expect(chooseCluster({}, ioWith())).rejects.toThrow(
    "there is no kubeconfig; name one with --kubeconfig or $KUBECONFIG",
  );
});

test("$KUBECONFIG names several files: the first that sets something wins, and missing ones are skipped", async () => {
  const first = kubeconfig("first", "a", "https://a.example");
  const second = kubeconfig("second", "b", "https://b.example");
  const again = kubeconfig("again", "a", "https://other.example");
  const io = ioWith(join(folder, "missing"), first, second, again);
  expect(await chooseCluster({}, io)).toMatchObject({ context: "a", namespace: "of-a" });
  expect(await chooseCluster({ context: "b" }, io)).toMatchObject({ namespace: "of-b" });
  await expect(chooseCluster({ context: "c" }, io)).rejects.toThrow('no context "c"; it has a, b');
});

test("--kubeconfig counts alone, and a file that cannot be read is named", async () => {
  const first = kubeconfig("first", "a", "https://a.example");
  const second = kubeconfig("second", "b", "https://b.example");
  const chosen = await chooseCluster({ kubeconfig: second }, ioWith(first));
  expect(chosen.context).toBe("b");
  const missing = join(folder, "missing");
  await expect(chooseCluster({}, ioWith(missing))).rejects.toThrow(
    `the kubeconfig ${missing} cannot be read: `,
  );
});
