import { runBatch } from "../batch/run-batch.ts";
import type { Io } from "../io.ts";
import { UsageError } from "../usage-error.ts";

/** Text of `virtkit batch --help`. */
export const help = `Usage: virtkit batch < requests.jsonl

Reads one JSON object a line and answers one line each, in the order of the requests:

  {"id": 1, "fn": "parse", "area": "quantity", "input": {...}, "context": {...}}
  {"id": 1, "result": ...}
  {"id": 1, "error": {"code": "...", "message": "...", "path": "..."}}

"area" is needed only where two areas have a function of the same name and the input fits both.
A line that cannot be answered gets an error line, and the rest goes on.`;

/** Answers the requests on stdin; exits 0 once every line has its answer. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  if (args.length > 0) throw new UsageError(`batch takes no argument, got "${args[0]}"`);
  await runBatch(io.stdin, io.stdout);
  return 0;
}
