import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { stages } from "@virtkit/api/timeline";
import { guestDisk, runProgram } from "@virtkit/lab";
import { localNames } from "@virtkit/local";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "../testing/demo-host.ts";
import type { Run } from "../testing/run-virtkit.ts";
import { program, VirtkitProcess } from "../testing/virtkit-process.ts";

const image = "registry.example/virtkit/demo:latest";
const demo = new URL("../../../../examples/vms/demo.yaml", import.meta.url);

/** The demo, and a Secret with cloud-init data. */
const extra = {
  disk: "        - name: seed\n          disk:\n            bus: virtio\n",
  volume: "    - name: seed\n      cloudInitNoCloud:\n        secretRef:\n          name: seed\n",
  secret: `---
apiVersion: v1
kind: Secret
metadata:
  name: seed
stringData:
  userdata: |
    #cloud-config
    hostname: from-a-secret
    runcmd:
      - mkdir -p /www
      - echo it ran > /www/ran
`,
};

let directory: string;
let env: Record<string, string>;
let file: string;
let disk: string;
let port: number;

const start = (...args: string[]): VirtkitProcess => new VirtkitProcess(args, env);
const virtkit = async (...args: string[]): Promise<Run> => await start(...args).end();
const runArguments = (): string[] => ["run", "-f", file, "--image", `${image}=${disk}`];

/** The Pods that the state directory has a record of. */
function podUids(): string[] {
  const vmis = join(directory, "vmis");
  if (!existsSync(vmis)) return [];
  return readdirSync(vmis).map(
    (name) => (JSON.parse(readFileSync(join(vmis, name), "utf8")) as { podUid: string }).podUid,
  );
}

async function expectNothingOf(podUid: string): Promise<void> {
  const names = localNames(directory, podUid);
  expect(readFileSync("/proc/mounts", "utf8")).not.toContain(directory);
  expect(existsSync(`/run/netns/${names.networkNamespace}`)).toBe(false);
  await expect(runProgram("ip", ["link", "show", "dev", names.hostLink])).rejects.toThrow();
  await expect(runProgram("nft", ["list", "table", "inet", names.nftTable])).rejects.toThrow();
  expect(await runProgram("find", ["/sys/fs/cgroup", "-name", podUid])).toBe("");
  expect(await processesOf(podUid)).toEqual([]);
}

/** Processes with the Pod on their command line: the launcher, libvirtd's children, a shell on the way. */
async function processesOf(podUid: string): Promise<string[]> {
  const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(
    all.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")),
  );
  return lines.filter((line) => line.includes(podUid));
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "virtkit-run-"));
  env = { VIRTKIT_STATE_DIR: directory };
  disk = await guestDisk();
  port = await freePort();
  file = join(directory, "vm.yaml");
  const text = (await readFile(demo, "utf8"))
    .replace("      interfaces:\n", `${extra.disk}      interfaces:\n`)
    .concat(extra.volume, extra.secret);
  await writeFile(file, text);
});

afterAll(async () => {
  await virtkit("rm", "--now", "demo");
  await rm(directory, { recursive: true, force: true });
});

test("a run without a guest says what to do", async () => {
  expect(await virtkit("run", "-f", file)).toMatchObject({
    code: 1,
    err: expect.stringContaining(`--image ${image}=DISK.qcow2`),
  });
  expect(podUids()).toEqual([]);
  expect(await virtkit("ps")).toMatchObject({ err: expect.stringContaining("virtkit run -f") });
  expect(await virtkit("console", "demo")).toMatchObject({
    code: 1,
    err: expect.stringContaining("virtkit ps"),
  });
});

test("refuses a port in use, or published twice, before anything is created", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port: taken } = server.address() as { port: number };
  try {
    expect(await virtkit(...runArguments(), "-p", `${taken}:80`)).toMatchObject({
      code: 1,
      err: expect.stringContaining(`127.0.0.1:${taken} of this host is in use`),
    });
  } finally {
    server.close();
  }
  expect(await virtkit(...runArguments(), "-p", "2222:22", "-p", "2222:80")).toMatchObject({
    code: 1,
    err: expect.stringContaining("port 2222/tcp of this host is published twice"),
  });
  expect(podUids()).toEqual([]);
  const pods = join(directory, "pods");
  expect(existsSync(pods) ? readdirSync(pods) : []).toEqual([]);
});

test.each(["admitted", "pod-running", "prepared", "network-bound"])(
  "rm removes a run that was killed after %s, and nothing of it is left",
  async (stage) => {
    const killed = start(...runArguments());
    await killed.untilSaid(new RegExp(`${stage} `));
    killed.child.kill("SIGKILL");
    await killed.end();
    const [podUid = ""] = podUids();
    expect(podUid).not.toBe("");
    expect(await virtkit("rm", "--now", "demo")).toMatchObject({ code: 0 });
    expect(podUids()).toEqual([]);
    await expectNothingOf(podUid);
  },
);

test("on a terminal the console is connected, and Ctrl-C stops and removes the VMI", async () => {
  const impatient = join(directory, "impatient.yaml");
  const text = await readFile(file, "utf8");
  await writeFile(
    impatient,
    text.replace(/terminationGracePeriodSeconds: \d+/, "terminationGracePeriodSeconds: 0"),
  );
  const line = [process.execPath, program, "run", "-f", impatient, "--image", `${image}=${disk}`];
  // Creates a terminal; it is the only program on every Linux that does.
  const terminal = spawn(
    "script",
    ["-qec", [...line, "--rm-on-interrupt"].join(" "), "/dev/null"],
    {
      env: { ...process.env, ...env },
    },
  );
  let out = "";
  let pressed = false;
  terminal.stdout.on("data", (chunk) => {
    out += String(chunk);
    // The guest's output is shown once the terminal is raw; from then on the key belongs to the console.
    if (pressed || !/SeaBIOS|SYSLINUX|Booting/.test(out)) return;
    pressed = true;
    terminal.stdin.write("\x03");
  });
  const code = await new Promise((resolve) => terminal.on("close", resolve));
  await rm(impatient);
  expect(out).toContain("Console of demo: Ctrl-C stops and removes it, Ctrl-] leaves it running.");
  expect(out).toContain("demo has ended and is removed");
  expect(code).toBe(0);
  expect(podUids()).toEqual([]);
});

test("a run after a killed one replaces it; handoffs are plain lines as they happen", async () => {
  const killed = start(...runArguments());
  await killed.untilSaid(/pod-running /);
  killed.child.kill("SIGKILL");
  await killed.end();
  const [before = ""] = podUids();
  const { code, err } = await virtkit(
    ...[...runArguments(), "--publish", `${port}:80`, "--detach", "--wait", "agent-connected"],
  );
  expect({ code, err }).toMatchObject({ code: 0 });
  await expectNothingOf(before);
  const told = [...err.matchAll(/^ +\d+\.\d\d s {2}([a-z-]+)/gm)].map(([, stage]) => stage);
  // All of them, in this order: a guest without a readiness probe is ready before its agent answers.
  expect(told).toEqual([...stages]);
  expect(err).not.toContain("\r");
  expect(err).toContain(`Published: localhost:${port} -> guest 80/tcp\n`);
  expect(err).toContain("virtkit console demo");
}, 300_000);

test("ps lists the VMI, and why says that it is ready and how long each handoff took", async () => {
  const [row] = JSON.parse((await virtkit("ps", "-o", "json")).out) as object[];
  expect(row).toMatchObject({ name: "demo", state: "Running", agent: "connected" });
  const { out } = await virtkit("why", "demo");
  expect(out).toMatch(/^demo: Running$/m);
  expect(out).toMatch(/^ {2}agent-connected +\d+\.\d\d s +\+\d+\.\d\d s {2}guest$/m);
});

test("the published port reaches the guest, which has read its cloud-init data from the Secret", async () => {
  const deadline = Date.now() + 60_000;
  const get = async (path: string): Promise<string> => {
    for (;;) {
      try {
        const signal = AbortSignal.timeout(5_000);
        return await (await fetch(`http://127.0.0.1:${port}${path}`, { signal })).text();
      } catch (error) {
        if (Date.now() > deadline) throw error;
        await sleep(100);
      }
    }
  };
  expect(await get("/")).toMatch(/^boot_id=[0-9a-f-]{36} host=from-a-secret$/m);
  expect(await get("/ran")).toBe("it ran\n");
});

test("the console accepts keys and shows the guest's output, until Ctrl-]", async () => {
  const console = start("console", "demo");
  await console.untilSaid(/Ctrl-\] to leave/);
  console.type("echo answer-$((40+2))\r");
  await console.untilSaid(/answer-42/);
  console.type("\x1d");
  expect(await console.end()).toMatchObject({
    code: 0,
    err: expect.stringContaining("virtkit stop demo"),
  });
});

test("the guest does not reach a service of the host; without the rule it does", async () => {
  const [podUid = ""] = podUids();
  const { hostLink, nftTable } = localNames(directory, podUid);
  const addresses = await runProgram("ip", ["-o", "-4", "address", "show", "dev", hostLink]);
  const gateway = /inet ([\d.]+)/.exec(addresses)?.[1] ?? "";
  const service = createServer((socket) => socket.end("secret of the host\n"));
  await new Promise<void>((resolve) => service.listen(0, "0.0.0.0", resolve));
  const { port: at } = service.address() as { port: number };
  const console = start("console", "demo");
  try {
    await console.untilSaid(/Ctrl-\] to leave/);
    const ask = (n: number): void =>
      console.type(`nc -w 3 ${gateway} ${at} < /dev/null; echo asked-$((${n}+40))\r`);
    ask(1);
    await console.untilSaid(/asked-41/);
    expect(console.out).not.toContain("secret of the host");
    await runProgram("nft", ["flush", "chain", "inet", nftTable, "contain"]);
    ask(2);
    await console.untilSaid(/asked-42/);
    expect(console.out).toContain("secret of the host");
  } finally {
    console.type("\x1d");
    await console.end();
    service.close();
  }
});

test("of two consoles the newer one wins, and the older one says so", async () => {
  const older = start("console", "demo");
  await older.untilSaid(/Ctrl-\] to leave/);
  const newer = start("console", "demo");
  await newer.untilSaid(/Ctrl-\] to leave/);
  expect(await older.end()).toMatchObject({
    code: 0,
    err: expect.stringContaining("another terminal has opened the console"),
  });
  newer.type("echo newer-$((40+2))\r");
  await newer.untilSaid(/newer-42/);
  newer.type("\x1d");
  expect((await newer.end()).code).toBe(0);
});

test("a running VMI is neither started again nor removed by mistake", async () => {
  expect(await virtkit(...runArguments())).toMatchObject({
    code: 1,
    err: expect.stringMatching(/demo is already running.*virtkit stop demo/),
  });
  expect(await virtkit("rm", "demo")).toMatchObject({ code: 2 });
  expect((await virtkit("ps")).out).toContain("Running");
});

test("stop shuts down the guest, rm removes the rest, and nothing is left", async () => {
  const [podUid = ""] = podUids();
  expect(await virtkit("stop", "demo")).toMatchObject({ code: 0 });
  await expectNothingOf(podUid);
  expect((await virtkit("why", "demo")).out).toContain("demo: Stopped");
  expect(await virtkit("rm", "demo")).toMatchObject({ code: 0 });
  expect(podUids()).toEqual([]);
  const left = (await runProgram("find", [directory, "-type", "f"])).trim().split("\n");
  expect(left).toEqual([file]);
});
