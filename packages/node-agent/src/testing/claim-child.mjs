// One of many processes that claim a run grant at the same moment. Prints "ready", claims once a line
// arrives on stdin, prints "won" or "lost", and stays alive until stdin ends: a holder that has ended would
// make room for the next.
import { existsSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ProcessHandle } from "@virtkit/host-primitives/process";
import { RunClaims } from "@virtkit/node-agent/claims";

const [how, directory = ""] = process.argv.slice(2);
const podUid = `pod-${process.pid}`;

/** The planted fault: reads, then writes. Careful in everything else. */
function naiveClaim() {
  const file = join(directory, "claim.json");
  if (existsSync(file)) return false;
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
  writeFileSync(`${file}.${process.pid}`, podUid, { flush: true });
  renameSync(`${file}.${process.pid}`, file);
  return true;
}

async function claim() {
  if (how === "naive") return naiveClaim();
  const vmi = { namespace: "default", name: "vm", uid: "vmi-1" };
  try {
    await new RunClaims(directory).claim(vmi, { podUid, process: ProcessHandle.open(process.pid) });
    return true;
  } catch (error) {
    if (/** @type {{ code?: string }} */ (error).code === "AGENT_CLAIM_HELD") return false;
    throw error;
  }
}

const lines = createInterface({ input: process.stdin });
process.stdout.write("ready\n");
for await (const _ of lines) process.stdout.write((await claim()) ? "won\n" : "lost\n");
process.exit(0);
