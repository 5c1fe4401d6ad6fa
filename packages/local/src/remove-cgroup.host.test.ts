import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, rmdirSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { createLocalCgroup, localProcesses, removeLocalCgroup } from "./local-cgroup.ts";

const made: string[] = [];

afterEach(async () => {
  for (const name of made.splice(0)) await removeLocalCgroup(name);
});

/** Like a launcher on its way into its cgroup: adds processes there until it is gone. */
const joining = `i=0
while [ $i -lt 200 ]; do
  sleep 60 & echo $! > "$1" || { kill $!; exit; }
  i=$((i+1))
done 2>/dev/null`;

function besieged(): { name: string; procs: readonly string[]; siege: ChildProcess } {
  const name = randomUUID();
  made.push(name);
  const procs = createLocalCgroup(name, { memoryBytes: 64 << 20, pids: 300 });
  // The directory that is removed last.
  const siege = spawn("sh", ["-c", joining, "sh", procs.at(-1) ?? ""], { stdio: "ignore" });
  return { name, procs, siege };
}

const rounds = 40;

/** The control: the old removal. A process that joins after the list was empty once is missed. */
async function removeOnceEmpty(name: string, procs: readonly string[]): Promise<boolean> {
  const end = Date.now() + 500;
  while (localProcesses(name).length > 0) {
    for (const pid of localProcesses(name)) kill(pid);
    await sleep(1);
  }
  for (const path of procs.map(dirname)) {
    while (!removed(path)) {
      if (Date.now() > end) return false;
      await sleep(1);
    }
  }
  return true;
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

function removed(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch {
    return !existsSync(path);
  }
}

test("removes a cgroup even while processes join", async () => {
  for (let round = 0; round < rounds; round++) {
    const { name, procs, siege } = besieged();
    if (siege.exitCode === null) await Promise.race([once(siege, "exit"), sleep(round)]);
    await removeLocalCgroup(name);
    expect(procs.map(dirname).filter((path) => existsSync(path))).toEqual([]);
    if (siege.exitCode === null) await once(siege, "exit");
  }
});

test("control: the same attack defeats killing only until it is empty once", async () => {
  let beaten = 0;
  for (let round = 0; round < rounds && beaten === 0; round++) {
    const { name, procs, siege } = besieged();
    if (siege.exitCode === null) await Promise.race([once(siege, "exit"), sleep(round)]);
    if (!(await removeOnceEmpty(name, procs))) beaten++;
    await removeLocalCgroup(name);
    if (siege.exitCode === null) await once(siege, "exit");
  }
  expect(beaten).toBeGreaterThan(0);
});
