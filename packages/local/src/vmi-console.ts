import { readFileSync, writeFileSync } from "node:fs";
import type { Duplex } from "node:stream";
import { type Clock, every, realClock } from "@virtkit/api/clock";
import { realRandom } from "@virtkit/api/random";
import { NodeAgentError } from "@virtkit/node-agent/errors";
import { localNames } from "./local-names.ts";
import { openVmiSandbox } from "./open-vmi-sandbox.ts";
import type { VmiRecord } from "./vmi-record.ts";

const lookInterval = 200;

/**
 * Opens the serial console of a VMI. The newest client wins, in any process: QEMU serves one at a
 * time, so each records its arrival, and the previous one sees that and makes room. Its stream then
 * ends with the error `AGENT_CONSOLE_TAKEN`.
 */
export async function openVmiConsole(
  stateDirectory: string,
  record: VmiRecord,
  { clock = realClock }: { readonly clock?: Clock } = {},
): Promise<Duplex> {
  using sandbox = openVmiSandbox(stateDirectory, record);
  const file = `${localNames(stateDirectory, record.podUid).directory}/console`;
  const token = realRandom.uuid();
  writeFileSync(file, token);
  const { openConsole } = await import("@virtkit/node-agent/run");
  const stream = await openConsole(sandbox, record.vmi);
  const stop = every(clock, lookInterval, () => {
    if (holder(file) === token) return;
    const message = `another terminal has opened the console of ${record.name}; to get it back, run: virtkit console ${record.name}`;
    stream.destroy(new NodeAgentError("AGENT_CONSOLE_TAKEN", message, { path: record.name }));
  });
  stream.once("close", stop);
  return stream;
}

function holder(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    // The VMI is being removed; its console goes with it.
    return undefined;
  }
}
