import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { ManualClock } from "@virtkit/api/clock";
import { expect, onTestFinished, test } from "vitest";
import { answer, localServer } from "../testing/local-server.ts";
import { HttpClient } from "./http-client.ts";
import { inClusterConnection, inClusterNamespace } from "./in-cluster.ts";

const env = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" };

async function account(token: string): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "virtkit-account-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(path.join(folder, "token"), `${token}\n`);
  await writeFile(path.join(folder, "ca.crt"), "a certificate");
  await writeFile(path.join(folder, "namespace"), "default");
  return folder;
}

test("server, CA and token come from the Pod's environment and files", async () => {
  const folder = await account("first");
  const connection = inClusterConnection({ folder, env });
  expect(connection.server).toBe("https://[fd00::1]:443");
  expect(await connection.credentials()).toEqual({
    headers: { authorization: "Bearer first" },
    tls: { ca: "a certificate" },
  });
  expect(await inClusterNamespace({ folder })).toBe("default");
});

test("a renewed token is used within a minute, and at once after a 401", async () => {
  const folder = await account("first");
  const clock = new ManualClock();
  const tokens: (string | undefined)[] = [];
  const { url } = await localServer((request, response) => {
    const { authorization } = request.headers;
    tokens.push(authorization);
    answer(response, {}, authorization === "Bearer second" ? 401 : 200);
  });
  const connection = { ...inClusterConnection({ folder, env }), server: url };
  const client = new HttpClient(connection, { clock });
  const ask = () => client.request({ path: "/version" });
  await ask();
  await writeFile(path.join(folder, "token"), "second");
  await ask();
  await clock.pass(60_000);
  await expect(ask()).rejects.toMatchObject({ status: 401 });
  await writeFile(path.join(folder, "token"), "third");
  await ask();
  client.close();
  const [first, second, third] = ["first", "second", "third"].map((it) => `Bearer ${it}`);
  expect(tokens).toEqual([first, first, second, third]);
});

test("outside of a Pod, the error says what is missing", async () => {
  expect(() => inClusterConnection({ env: {} })).toThrow("KUBERNETES_SERVICE_HOST: not set");
  const { credentials } = inClusterConnection({ env, folder: "/nowhere" });
  await expect(credentials()).rejects.toThrow(/^\/nowhere\/(token|ca\.crt): cannot be read/);
});
