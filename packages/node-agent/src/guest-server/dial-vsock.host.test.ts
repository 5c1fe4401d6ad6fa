import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { guestPackages, packageInGuest, runInGuest } from "@virtkit/lab";
import { migrationIdentity, vsockIdentity } from "@virtkit/pki";
import { expect, test } from "vitest";
import { testAuthority } from "../testing/test-authority.ts";

const packages = fileURLToPath(new URL("../../..", import.meta.url));
const program = fileURLToPath(new URL("../testing/vsock-in-guest.mjs", import.meta.url));

const dialer = "node_modules/@virtkit/node-agent/dist/guest-server/dial-vsock.js";

/** The folder of koffi, and that of its binary. */
function koffi(): string[] {
  const from = createRequire(join(packages, "host-primitives/package.json"));
  const main = dirname(from.resolve("koffi"));
  return [main, dirname(createRequire(`${main}/`).resolve("@koromix/koffi-linux-x64"))];
}

/** What the program in the guest says. */
async function inGuest(): Promise<Record<string, unknown>> {
  using authority = await testAuthority();
  const credentials = {
    shown: await authority.issue(vsockIdentity("node01")),
    guest: await authority.issue(migrationIdentity("some-guest", "target")),
  };
  const names = ["api", "host-primitives", "node-agent"];
  const directories = [...names.map((name) => join(packages, name)), ...koffi()];
  const output = await runInGuest({
    node: true,
    memoryMiB: 1024,
    // A guard against hanging: an emulated guest starts Node, and the host may be busy.
    timeout: 200_000,
    script: `
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
exec node /${guestPackages}/vsock.mjs /${guestPackages}/credentials.json /${guestPackages}/${dialer}
`,
    files: [
      ...(await Promise.all(directories.map(packageInGuest))).flat(),
      { path: `${guestPackages}/vsock.mjs`, kind: "file", data: await readFile(program) },
      {
        path: `${guestPackages}/credentials.json`,
        kind: "file",
        data: JSON.stringify(credentials),
      },
    ],
  });
  return JSON.parse(output.split("\n").at(-1) ?? "") as Record<string, unknown>;
}

test("dials ports over the kernel's own VSOCK, with and without TLS, and every failure says what to do", async () => {
  const said = await inGuest();
  expect(said["before"]).toEqual({
    dialer: {
      code: "AGENT_VSOCK",
      message: expect.stringMatching(/CID 7: the kernel has not loaded vhost_vsock; run modprobe/),
    },
    socket: {
      ...{ code: "HOST_UNSUPPORTED", errno: "EAFNOSUPPORT" },
      message: expect.stringMatching(/^CID 7 port 22 cannot be reached: this kernel has no VSOCK/),
    },
  });
  expect(said["loaded"]).toBe(true);
  expect([said["plain"], said["secure"]]).toEqual([true, true]);
  // What the guest is shown is of the platform, and of no role that a server of the platform takes.
  expect(said["seen"]).toEqual(["URI:spiffe://test.example/vsock/node01 trusted"]);
  expect(said["notTls"]).toMatchObject({
    code: "AGENT_VSOCK",
    message: expect.stringMatching(/^TLS with port 1000 of the guest with CID 7 failed: /),
  });
  expect(said["closedPort"]).toMatchObject({
    message: expect.stringMatching(/^nobody in the guest with CID 1 listens on port 9/),
  });
  expect(said["noGuest"]).toMatchObject({
    message: expect.stringMatching(/^no guest with CID 7 runs on this host \(ENODEV\)/),
  });
});
