import { type Io, writeAll } from "../io.ts";
import { parseOptions } from "../parse-options.ts";

/** Text of `virtkit batch --help`. */
export const help = `Usage: virtkit batch < requests.jsonl
       virtkit batch --list

Reads one JSON object per line and answers each with one line, in order:

  {"id": 1, "fn": "parse", "area": "quantity", "input": {...}, "context": {...}}
  {"id": 1, "result": ...}
  {"id": 1, "error": {"code": "...", "message": "...", "path": "..."}}

"area" is needed only if two areas have a function of the same name and the input fits both. A line that
cannot be answered gets an error, and the next ones are still read. The functions belong to KubeVirt's
recorded answers, so this command works only in a clone of the project.

      --list  list every function with its area`;

/** Answers the requests on stdin, or lists the functions; exits 0 once every line has its answer. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values } = parseOptions(args, { options: { list: { type: "boolean" } } });
  const conformance = await loadConformance();
  if (!conformance) {
    await writeAll(io.stderr, "virtkit: batch works only in a clone of the project\n");
    return 1;
  }
  if (values.list) await writeAll(io.stdout, listText(conformance.batchAreas));
  else await conformance.runBatch(io.stdin, (line) => writeAll(io.stdout, line));
  return 0;
}

/** Every area and function, in columns. */
function listText(areas: typeof import("@virtkit/conformance").batchAreas): string {
  const width = Math.max(...Object.keys(areas).map(({ length }) => length));
  const lines = Object.entries(areas).flatMap(([area, { functions }]) =>
    functions.map((name) => `${area.padEnd(width)}  ${name}\n`),
  );
  return lines.sort().join("");
}

/** The package with the recorded cases; undefined if only `virtkit` is installed. */
async function loadConformance(): Promise<typeof import("@virtkit/conformance") | undefined> {
  try {
    return await import("@virtkit/conformance");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND") return undefined;
    throw error;
  }
}
