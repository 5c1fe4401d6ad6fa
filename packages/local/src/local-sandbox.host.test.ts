import { constants, existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { ownCgroupLayout } from "@virtkit/host-primitives/cgroups";
import type { Pod } from "@virtkit/launcher-pod";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  createLocalSandbox,
  isAlive,
  type LocalSandbox,
  removeLocalSandbox,
  stopLocalSandbox,
} from "./local-sandbox.ts";
import { tryTool } from "./run-tool.ts";
import { forwarderBytes } from "./start-forwarder.ts";

const podUid = "7f0c1d52-90a1-4c3e-8d52-0d3b1c5a9e11";
const pod: Pod = {
  metadata: { name: "virt-launcher-demo", namespace: "default" },
  spec: {
    hostname: "demo",
    volumes: [
      { name: "public", emptyDir: {} },
      { name: "password", secret: { secretName: "login" } },
      { name: "root", image: { reference: "demo:1" } },
    ],
    containers: [
      {
        name: "compute",
        command: ["/usr/bin/virtkit-launcher", "--name", "demo"],
        resources: {},
        securityContext: { capabilities: { add: ["NET_BIND_SERVICE"] } },
        volumeMounts: [
          { name: "public", mountPath: "/var/run/kubevirt" },
          { name: "password", mountPath: "/var/run/kubevirt-private/secret/x", readOnly: true },
          { name: "root", mountPath: "/var/run/kubevirt-image-volume/disk_0", readOnly: true },
        ],
      },
    ],
  },
};

/** What the first process sees, one answer a line. */
const questions = {
  user: "id -u",
  host: "hostname",
  folders: "ls / | tr '\\n' ' '",
  disk: "cat /var/run/kubevirt-image-volume/disk_0/disk/disk.img",
  secret: "cat /var/run/kubevirt-private/secret/x/user",
  write: "touch /usr/x /etc/x /x 2>/dev/null || echo refused",
  address: "ip -o -4 address show eth0 | grep -o '10[.][0-9.]*' | head -n 1",
  capabilities: "grep CapBnd /proc/self/status | tr -d '\\t'",
  name: "getent passwd 107 | cut -d: -f1",
  devices: "ls /dev /dev/net | tr '\\n' ' '",
};

const { unified = "", controllers } = ownCgroupLayout();
const cgroup = join(controllers["memory"] ?? unified, "virtkit", podUid);

let stateDirectory: string;
let sandbox: LocalSandbox;
let answers: Record<string, string>;

async function create(): Promise<LocalSandbox> {
  return await createLocalSandbox({
    stateDirectory,
    pod,
    podUid,
    launcher: fileURLToPath(new URL("./testing/stand-in.mjs", import.meta.url)),
    limits: {
      memoryBytes: 512 << 20,
      cpuQuota: { quotaUs: 150_000, periodUs: 100_000 },
      cpuShares: 512,
      pids: 300,
    },
    devices: [{ name: "net/tun", major: 10, minor: 200 }],
    published: [{ protocol: "tcp", host: 28_091, guest: 7 }],
    sources: {
      images: { "demo:1": join(stateDirectory, "disk.img") },
      objects: [{ kind: "Secret", metadata: { name: "login" }, stringData: { user: "me" } }],
    },
    env: {
      LOOK: Object.values(questions)
        .map((question) => `echo "$(${question})"`)
        .join("; "),
    },
  });
}

async function seen(): Promise<Record<string, string>> {
  const file = `/proc/${sandbox.pid}/root/run/kubevirt/seen`;
  while (!existsSync(file) || readFileSync(file, "utf8") === "") await sleep(20);
  const lines = (JSON.parse(readFileSync(file, "utf8")) as { seen: string }).seen.split("\n");
  return Object.fromEntries(Object.keys(questions).map((name, i) => [name, lines[i] ?? ""]));
}

beforeAll(async () => {
  stateDirectory = await mkdtemp(join(tmpdir(), "virtkit-state-"));
  await writeFile(join(stateDirectory, "disk.img"), "a disk\n");
  sandbox = await create();
  answers = await seen();
});

afterAll(async () => {
  await removeLocalSandbox(stateDirectory, podUid);
  await rm(stateDirectory, { recursive: true, force: true });
});

test("the launcher is the first process, of its own user, under its Pod's name", () => {
  expect(readFileSync(`/proc/${sandbox.pid}/status`, "utf8")).toMatch(/^NSpid:\s+\d+\s+1$/m);
  expect(answers).toMatchObject({ user: "107", host: "demo", name: "qemu" });
  expect(answers["capabilities"]).toBe("CapBnd:0000000000000400");
});

test("homes and state of the host are absent, and what is shared is read-only", () => {
  const folders = answers["folders"]?.split(" ") ?? [];
  expect(folders).toContain("usr");
  expect(folders).not.toContain("home");
  expect(existsSync(`/proc/${sandbox.pid}/root${stateDirectory}`)).toBe(false);
  expect(answers["write"]).toBe("refused");
});

test("mounts images and Secrets where the Pod says", () => {
  expect(answers).toMatchObject({ disk: "a disk", secret: "me" });
  expect(answers["devices"]).toContain("tun");
});

/** What a file of the Pod's cgroup says, by its name in version 1 or in version 2. */
function limit(controller: string, v1: string, v2: string): string {
  const root = controllers[controller];
  const file = root === undefined ? [unified, v2] : [root, v1];
  const [place = "", name = ""] = file;
  return readFileSync(join(place, "virtkit", podUid, name), "utf8").trim();
}

test("the Pod's cgroup has its limits", () => {
  const bytes = Number(limit("memory", "memory.limit_in_bytes", "memory.max"));
  expect(bytes).toBe((512 << 20) + forwarderBytes);
  expect(limit("cpu", "cpu.cfs_quota_us", "cpu.max")).toMatch(/^150000( 100000)?$/);
  expect(limit("cpu", "cpu.shares", "cpu.weight")).toMatch(/^(512|20)$/);
  expect(limit("pids", "pids.max", "pids.max")).toBe("300");
  expect(readFileSync(join(cgroup, "cgroup.procs"), "utf8").split("\n")).toContain(
    `${sandbox.pid}`,
  );
});

test("the launcher's log is open so that the launcher can trim it", () => {
  const [, flags = "0"] =
    /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/${sandbox.pid}/fdinfo/2`, "utf8")) ?? [];
  const { O_APPEND, O_RDWR } = constants;
  expect(Number.parseInt(flags, 8) & (O_APPEND | O_RDWR)).toBe(O_APPEND | O_RDWR);
});

test("a published port of the host's loopback leads into the Pod", async () => {
  expect(answers["address"]).toBe(sandbox.network.podAddress);
  const listen =
    "require('net').createServer((s) => s.end('from the pod', process.exit)).listen(7)";
  const inside = ["-n", "-t", String(sandbox.pid), process.execPath, "-e", listen];
  void tryTool("nsenter", inside, { timeout: 10_000 });
  expect(await untilAnswered(28_091)).toBe("from the pod");
});

test("the host forwards what comes back to the Pod", async () => {
  const { stdout } = await tryTool("ip", ["-4", "route", "show", "default"]);
  const link = /\bdev (\S+)/.exec(stdout)?.[1] ?? "lo";
  for (const name of [link, sandbox.names.hostLink]) {
    const file = `/proc/sys/net/ipv4/conf/${name}/forwarding`;
    expect(readFileSync(file, "utf8").trim()).toBe("1");
  }
});

async function untilAnswered(port: number): Promise<string> {
  for (;;) {
    const answer = await new Promise<string>((resolve) => {
      let text = "";
      const socket = connect({ host: "127.0.0.1", port });
      socket.on("data", (chunk) => {
        text += String(chunk);
      });
      socket.on("error", () => resolve(""));
      socket.on("close", () => resolve(text));
    });
    if (answer !== "") return answer;
    await sleep(50);
  }
}

test("nothing is left after its end; ending it can be repeated; and it can be created again", async () => {
  const { names } = sandbox;
  await stopLocalSandbox(stateDirectory, podUid);
  await stopLocalSandbox(stateDirectory, podUid);
  await expectNothing();
  expect(readFileSync(names.terminationMessage, "utf8")).toBe("told");
  sandbox = await create();
  expect(isAlive(stateDirectory, podUid)).toBe(true);
  await removeLocalSandbox(stateDirectory, podUid);
  await removeLocalSandbox(stateDirectory, podUid);
  await expectNothing();
  expect(existsSync(names.directory)).toBe(false);
});

async function expectNothing(): Promise<void> {
  const { names } = sandbox;
  expect(isAlive(stateDirectory, podUid)).toBe(false);
  expect(existsSync(`/run/netns/${names.networkNamespace}`)).toBe(false);
  expect((await tryTool("ip", ["link", "show", "dev", names.hostLink])).code).toBe(1);
  expect((await tryTool("nft", ["list", "table", "inet", names.nftTable])).code).toBe(1);
  expect(existsSync(cgroup)).toBe(false);
  expect(readFileSync("/proc/self/mountinfo", "utf8")).not.toContain(stateDirectory);
}
