import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { guestDisk } from "@virtkit/lab";
import { connectVmi, localNames, readRecord } from "@virtkit/local";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Run } from "../testing/run-virtkit.ts";
import { VirtkitProcess } from "../testing/virtkit-process.ts";

const image = "registry.example/virtkit/demo:latest";
const demo = new URL("../../../../examples/vms/demo.yaml", import.meta.url);
const probes = `  readinessProbe:
    periodSeconds: 1
    httpGet:
      port: http
      path: /flag
  livenessProbe:
    periodSeconds: 1
    timeoutSeconds: 5
    initialDelaySeconds: 5
    failureThreshold: 60
    exec:
      command: [/bin/sh, -c, "test ! -e /www/dead"]
`;
const long = 300_000;

let directory: string;
let file: string;
let podUid: string;

const virtkit = async (...args: string[]): Promise<Run> =>
  await new VirtkitProcess(args, { VIRTKIT_STATE_DIR: directory }).end();

interface Row {
  readonly state: string;
  readonly ready: boolean;
  readonly probes?: Record<"readiness" | "liveness", { state: string; message?: string }>;
}

async function row(): Promise<Row | undefined> {
  const rows = JSON.parse((await virtkit("ps", "-o", "json")).out) as Row[];
  return rows[0];
}

async function inGuest(line: string): Promise<number> {
  const record = await readRecord(directory, "default", "demo");
  if (!record) throw new Error("there is no demo");
  podUid = record.podUid;
  const guest = await connectVmi(directory, record);
  try {
    const args = ["-c", line];
    return (await guest.exec({ command: "/bin/sh", args, timeoutSeconds: 60 })).exitCode;
  } finally {
    await guest.close();
  }
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "virtkit-probes-"));
  file = join(directory, "vm.yaml");
  const text = (await readFile(demo, "utf8"))
    .replace("  domain:\n", `${probes}  domain:\n`)
    .replace(/terminationGracePeriodSeconds: \d+/, "terminationGracePeriodSeconds: 2");
  await writeFile(file, text);
});

afterAll(async () => {
  await virtkit("rm", "--now", "demo");
  await rm(directory, { recursive: true, force: true });
});

test("refuses a probe that local mode does not support, with its field, and creates nothing", async () => {
  const wrong = join(directory, "wrong.yaml");
  await writeFile(wrong, (await readFile(file, "utf8")).replace("port: http\n", "port: 8080\n"));
  expect(await virtkit("run", "-f", wrong, "-d")).toMatchObject({
    code: 1,
    err: expect.stringContaining("spec.readinessProbe.httpGet.port"),
  });
  expect(await row()).toBeUndefined();
});

test(
  "a guest is ready once its readiness probe passes, even if nobody watches",
  async () => {
    const disk = await guestDisk();
    const wait = ["-d", "--wait", "agent-connected"];
    const started = await virtkit("run", "-f", file, "--image", `${image}=${disk}`, ...wait);
    expect(started).toMatchObject({ code: 0 });
    expect(started.err).not.toMatch(/ {2}ready /);
    const state = { timeout: 60_000, interval: 500 };
    await expect
      .poll(row, state)
      .toMatchObject({ ready: false, probes: { readiness: { state: "failing" } } });
    const why = async (): Promise<string> => (await virtkit("why", "demo")).out;
    await expect
      .poll(why, state)
      .toMatch(/readiness probe: not ready: .*http:\/\/10\.0\.2\.2\/flag answered 404/);
    expect((await virtkit("ps")).out).toMatch(/^demo +Running +no /m);
    expect(await inGuest("touch /www/flag")).toBe(0);
    await expect.poll(row, state).toMatchObject({
      ready: true,
      probes: { readiness: { state: "passing" }, liveness: { state: "passing" } },
    });
    expect((await virtkit("why", "demo")).out).toMatch(/^ {2}ready +\d/m);
  },
  long,
);

test(
  "a guest whose liveness probe fails is ended, with the reason",
  async () => {
    expect(await inGuest("touch /www/dead")).toBe(0);
    const isOver = async (): Promise<string | undefined> => (await row())?.state;
    await expect
      .poll(isOver, { timeout: 200_000, interval: 1_000 })
      .not.toMatch(/Running|ShuttingDown/);
    const { terminationMessage } = localNames(directory, podUid);
    const said = async (): Promise<string> => await readFile(terminationMessage, "utf8");
    await expect
      .poll(said, { timeout: 60_000 })
      .toMatch(/liveness probe failed.*\/bin\/sh exited with 1/);
  },
  long,
);
