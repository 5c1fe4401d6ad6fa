import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { KubeConfig } from "@kubernetes/client-node";
import { ManualClock } from "@virtkit/api/clock";
import { expect, onTestFinished, test, vi } from "vitest";
import { answer, localServer } from "../testing/local-server.ts";
import { HttpClient } from "./http-client.ts";
import { isWithoutKubeconfig, kubeconfigConnection } from "./kubeconfig.ts";

function kubeconfig(user: object, server = "https://127.0.0.1:6443"): KubeConfig {
  const config = new KubeConfig();
  const cluster = { server, "certificate-authority-data": Buffer.from("CA").toString("base64") };
  config.loadFromString(
    JSON.stringify({
      clusters: [{ name: "c", cluster }],
      users: [{ name: "u", user }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
      "current-context": "x",
    }),
  );
  return config;
}

test("takes tokens, certificates and basic authentication from the kubeconfig", async () => {
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  const connection = kubeconfigConnection(kubeconfig({ token: "t" }));
  expect(connection.server).toBe("https://127.0.0.1:6443");
  const withToken = await connection.credentials();
  expect(withToken.headers).toEqual({ Authorization: "Bearer t" });
  expect(String(withToken.tls?.ca)).toBe("CA");
  const certificate = {
    "client-certificate-data": base64("CERT"),
    "client-key-data": base64("KEY"),
  };
  const withCertificate = await kubeconfigConnection(kubeconfig(certificate)).credentials();
  expect(String(withCertificate.tls?.cert)).toBe("CERT");
  expect(String(withCertificate.tls?.key)).toBe("KEY");
  const basic = await kubeconfigConnection(
    kubeconfig({ username: "me", password: "secret" }),
  ).credentials();
  expect(basic.headers).toEqual({ authorization: `Basic ${base64("me:secret")}` });
});

test("without a kubeconfig, the error says so instead of naming a cluster that client-node invents", () => {
  vi.stubEnv("KUBECONFIG", "");
  vi.stubEnv("HOME", path.join(tmpdir(), "nobody-lives-here"));
  onTestFinished(() => void vi.unstubAllEnvs());
  const config = new KubeConfig();
  config.loadFromDefault();
  expect(() => kubeconfigConnection(config)).toThrow(/^there is no kubeconfig; /);
  expect(isWithoutKubeconfig(kubeconfig({}, "http://localhost:8080"))).toBe(false);
});

test("asks an exec plug-in once for many requests, and again after a while", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "virtkit-exec-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const calls = path.join(folder, "calls");
  const plugin = path.join(folder, "plugin.sh");
  const credential = { kind: "ExecCredential", status: { token: "of-the-plug-in" } };
  writeFileSync(plugin, `#!/bin/sh\necho >> ${calls}\necho '${JSON.stringify(credential)}'\n`);
  chmodSync(plugin, 0o755);
  const clock = new ManualClock();
  const tokens = new Set<string | undefined>();
  const { url } = await localServer((request, response) => {
    tokens.add(request.headers.authorization);
    answer(response, {});
  });
  const connection = kubeconfigConnection(kubeconfig({ exec: { command: plugin } }));
  const client = new HttpClient({ ...connection, server: url }, { clock });
  const ask = () => client.request({ path: "/version" });
  await Promise.all([ask(), ask(), ask()]);
  await clock.pass(10_000);
  await ask();
  client.close();
  expect([...tokens]).toEqual(["Bearer of-the-plug-in"]);
  expect(readFileSync(calls, "utf8")).toBe("\n\n");
});

test("reports credentials that cannot be obtained", async () => {
  const config = kubeconfig({ exec: { command: "/nowhere/plugin" } });
  const client = new HttpClient(kubeconfigConnection(config));
  await expect(client.request({ path: "/version" })).rejects.toMatchObject({
    code: "KUBE_INPUT_INVALID",
    path: "users",
  });
  expect(() => kubeconfigConnection(new KubeConfig())).toThrow("current-context");
});
