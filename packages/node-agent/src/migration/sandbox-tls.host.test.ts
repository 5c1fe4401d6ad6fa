import { names as namesOf } from "@virtkit/api/names";
import { stopNamespaceHelper } from "@virtkit/host-primitives/namespaces";
import { createPod, type PodFixture } from "@virtkit/lab";
import { afterAll, expect, test } from "vitest";
import { openSandbox, type Sandbox } from "../sandbox/sandbox.ts";
import { placeTlsFiles, removeTlsFiles } from "./sandbox-tls.ts";

afterAll(stopNamespaceHelper);

const names = namesOf();
const { migrationTls: folder } = names.directories;
const credentials = { certificate: "certificate", privateKey: "key", authorities: "authorities" };

function open({ podUid, pid }: PodFixture): Sandbox & Disposable {
  return openSandbox({ podUid, pid });
}

test("a side's certificate belongs to its user alone, replaces one of another migration, and is removed", async () => {
  await using pod = await createPod();
  using sandbox = open(pod);
  pod.run(`mkdir -p ${folder}; echo old > ${folder}/ca-cert.pem`);
  placeTlsFiles(sandbox, names, "target", credentials);
  placeTlsFiles(sandbox, names, "source", credentials);
  const files = ["ca-cert", "client-cert", "client-key", "server-cert", "server-key"];
  expect(pod.run(`cd ${folder}; stat -c '%n %u:%g %a' *`).trim().split("\n")).toEqual(
    files.map((name) => `${name}.pem 107:107 600`),
  );
  expect(pod.run(`cd ${folder}; cat ca-cert.pem client-key.pem`)).toBe("authoritieskey");
  removeTlsFiles(sandbox, names);
  removeTlsFiles(sandbox, names);
  expect(pod.run(`ls -A ${folder}`)).toBe("");
});

test("a link in place of a file is replaced and removed, and never followed", async () => {
  await using pod = await createPod();
  using sandbox = open(pod);
  const victim = `echo victim > /run/victim; ln -sf /run/victim ${folder}/client-key.pem`;
  pod.run(`mkdir -p ${folder}; ${victim}`);
  placeTlsFiles(sandbox, names, "source", credentials);
  expect(pod.run(`cat /run/victim ${folder}/client-key.pem`)).toBe("victim\nkey");
  pod.run(victim);
  removeTlsFiles(sandbox, names);
  expect(pod.run(`cat /run/victim; ls -A ${folder}`)).toBe("victim\n");
});

test("a link in place of the folder is rejected", async () => {
  await using pod = await createPod();
  using sandbox = open(pod);
  pod.run(`mkdir -p /run/other ${folder}; rmdir ${folder}; ln -s /run/other ${folder}`);
  expect(() => placeTlsFiles(sandbox, names, "source", credentials)).toThrow(
    expect.objectContaining({ code: "HOST_PATH_UNSAFE" }),
  );
  expect(pod.run("ls -A /run/other")).toBe("");
});

test("a launcher of an earlier release, which lacks the folder, is reported as unable to encrypt", async () => {
  await using pod = await createPod();
  using sandbox = open(pod);
  expect(() => placeTlsFiles(sandbox, names, "source", credentials)).toThrow(
    expect.objectContaining({
      code: "AGENT_CERTIFICATE",
      message: expect.stringMatching(/cannot encrypt.*restart its VM, or set disableTLS/),
    }),
  );
  removeTlsFiles(sandbox, names);
});
