import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import {
  createNetworkNamespace,
  createRootNamespace,
  deleteNetworkNamespace,
  stopNamespaceHelper,
} from "../namespaces/index.ts";
import { parseStatus } from "../process/index.ts";
import { openRoot } from "../safe-path/index.ts";
import {
  openDescriptors,
  run,
  shell,
  temporaryDirectory,
  uniqueName,
} from "../testing/host-fixtures.ts";
import { startChild } from "./index.ts";

afterAll(stopNamespaceHelper);

const status = async (options: object) =>
  parseStatus((await run({ command: "cat", args: ["/proc/self/status"], ...options })).output);

test("a child runs as another user without groups, capabilities or a way to get them", async () => {
  const { uids, gids, capabilities, noNewPrivileges } = await status({
    uid: 107,
    gid: 108,
    capabilities: [],
  });
  expect([uids, gids]).toEqual([Array(4).fill(107), Array(4).fill(108)]);
  expect(capabilities).toEqual({
    inheritable: 0n,
    permitted: 0n,
    effective: 0n,
    bounding: 0n,
    ambient: 0n,
  });
  expect(noNewPrivileges).toBe(true);
  expect((await run({ command: "id", args: ["-G"], uid: 107, gid: 108 })).output).toBe("108");
});

test("the other user can use a capability that is kept", async () => {
  const netBindService = 1n << 10n;
  const { capabilities } = await status({ uid: 107, capabilities: ["net_bind_service"] });
  expect(capabilities.effective).toBe(netBindService);
  expect(capabilities.bounding).toBe(netBindService);
});

test("limits and the OOM score are set before the program runs", async () => {
  const limits = { nofile: { soft: 77, hard: 88 }, core: 0 } as const;
  const { output } = await shell(
    "ulimit -Sn; ulimit -Hn; ulimit -c; cat /proc/self/oom_score_adj",
    {
      uid: 107,
      limits,
      oomScoreAdjust: 900,
    },
  );
  expect(output.split("\n")).toEqual(["77", "88", "0", "900"]);
});

test("a child lives in the namespaces that it was given or that were created for it", async () => {
  const name = uniqueName("child");
  const namespace = await createNetworkNamespace(name);
  const joined = await shell("readlink /proc/self/ns/net", { join: [namespace], uid: 107 });
  expect(joined.output).toBe(namespace.identity());
  namespace.close();
  deleteNetworkNamespace(name);
  const made = await shell("echo $$; readlink /proc/self/ns/uts", {
    create: ["pid", "uts", "mount"],
  });
  expect(made.output.split("\n")[0]).toBe("1");
});

/** A root with a shell in it: the host's own, copied with its interpreter and libraries. */
async function rootWithShell(path: string): Promise<void> {
  const { output } = await shell("command -v busybox sh; ldd $(command -v sh)");
  for (const directory of ["bin", "lib", "lib64", "usr", "proc"]) mkdirSync(join(path, directory));
  const files = [...output.matchAll(/(\/\S+)/g)].map((match) => match[1] as string);
  for (const file of new Set(files)) await shell(`cp -L --parents ${file} ${path}`);
  await shell(`cp -L $(command -v sh) ${path}/bin/sh`);
  writeFileSync(join(path, "marker"), "the new root");
  chmodSync(path, 0o755);
}

test("a child sees only its new root, by chroot and by pivot_root", async () => {
  using directory = temporaryDirectory();
  await rootWithShell(directory.path);
  using host = openRoot(directory.path);
  using root = host.directory();
  const entries = "/bin /lib /lib64 /marker /proc /usr";
  const script =
    "read line < /marker; echo $line; cd -P .; pwd; echo /* ../*; [ -e /etc ] || echo none";
  const options = {
    command: "/bin/sh",
    args: ["-c", script],
    uid: 107,
    gid: 107,
    capabilities: [],
  };
  // The working directory is the new root, too: one outside it would be a way back to the host.
  const inside = ["the new root", "/", `${entries} ${entries.replaceAll("/", "../")}`, "none"];
  const chrooted = await run({ ...options, root });
  expect(chrooted).toMatchObject({
    code: 0,
    output: inside.join("\n"),
  });
  using namespace = await createRootNamespace(root);
  const pivoted = await run({ ...options, join: [namespace] });
  expect(pivoted).toEqual(chrooted);
});

test("a child inherits nothing of this process, and nothing stays open", async () => {
  using directory = temporaryDirectory();
  using host = openRoot(directory.path);
  const before = openDescriptors();
  using root = host.directory();
  // Opened without close-on-exec, for example by the shell that started us.
  const inherited = await run({ command: "true", stdio: ["ignore", "ignore", "ignore", root.fd] });
  expect(inherited.code).toBe(0);
  const { output } = await shell("ls /proc/self/fd | wc -l", { uid: 107 });
  // 0, 1, 2 and the one that ls itself opens.
  expect(Number(output)).toBe(4);
  const failed = await run({ command: "/bin/absent", root });
  expect(failed.code).toBe(127);
  root.close();
  await expect.poll(openDescriptors).toBe(before);
});

test("a signal ends the child", async () => {
  const controller = new AbortController();
  const child = startChild({ command: "sleep", args: ["60"], signal: controller.signal });
  const ended = new Promise((resolve) => child.once("close", (_, signal) => resolve(signal)));
  child.once("error", () => undefined);
  controller.abort();
  expect(await ended).toBe("SIGKILL");
});
