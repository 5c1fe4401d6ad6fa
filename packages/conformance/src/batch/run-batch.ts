import type { Readable } from "node:stream";
import { batchAreas } from "../areas/areas.ts";
import type { BatchArea, BatchFunction } from "./batch-area.ts";
import { type Line, readLines } from "./read-lines.ts";

/** Limits and functions of {@link runBatch}. */
export interface BatchOptions {
  /** Maximum length of a request line in bytes; a longer one gets an error line. Default 64 MiB. */
  readonly maxLineBytes?: number;
  /** What can be called, by area. Default: every pure function of the packages. */
  readonly areas?: Readonly<Record<string, BatchArea>>;
}

interface Failure {
  readonly code: string;
  readonly message: string;
  readonly path?: string;
}

type Id = string | number | boolean | null;
type Answer =
  | { readonly id: Id; readonly result: unknown }
  | { readonly id: Id; readonly error: Failure };

/**
 * Answers one JSON line for each line of `input`, in order, until the input ends.
 *
 * Waits for `write` before it reads on, so memory stays bounded whatever the reader does. A line that is not a
 * JSON object, does not name a known function, or makes its function throw gets an error line; `id` is `null`
 * if the request has none. Empty lines are skipped.
 */
export async function runBatch(
  input: Readable,
  write: (line: string) => Promise<void>,
  { maxLineBytes = 64 * 1024 * 1024, areas = batchAreas }: BatchOptions = {},
): Promise<void> {
  for await (const line of readLines(input, maxLineBytes)) {
    if ("text" in line && line.text.trim() === "") continue;
    await write(`${serialise(await answer(line, areas))}\n`);
  }
}

async function answer(line: Line, areas: Readonly<Record<string, BatchArea>>): Promise<Answer> {
  if ("tooLong" in line) {
    const message = `the line has more than ${line.tooLong} bytes; split the request`;
    return { id: null, error: { code: "BATCH_LINE_TOO_LONG", message } };
  }
  let request: unknown;
  try {
    request = JSON.parse(line.text);
  } catch (cause) {
    const message = `the line is not JSON: ${(cause as Error).message}`;
    return { id: null, error: { code: "BATCH_NOT_JSON", message } };
  }
  if (typeof request !== "object" || request === null || Array.isArray(request)) {
    const message = "the line is not a JSON object with id, fn, input and context";
    return { id: null, error: { code: "BATCH_NOT_A_REQUEST", message } };
  }
  const { id: given, fn, area, input, context } = request as Record<string, unknown>;
  const id = plainId(given);
  try {
    const run = await find(fn, area, input, areas);
    return { id, result: (await run(input, context)) ?? null };
  } catch (error) {
    return { id, error: describe(error) };
  }
}

/** An id that is not a plain value cannot be written back: the answer has none. */
function plainId(id: unknown): Id {
  return typeof id === "object" || id === undefined ? null : (id as Id);
}

class RequestError extends Error {
  readonly code: string;
  readonly path: string;

  constructor(code: string, path: string, message: string) {
    super(message);
    this.code = code;
    this.path = path;
  }
}

async function find(
  fn: unknown,
  area: unknown,
  input: unknown,
  areas: Readonly<Record<string, BatchArea>>,
): Promise<BatchFunction> {
  if (typeof fn !== "string") {
    throw new RequestError("BATCH_NO_FUNCTION", "fn", "fn must name a function, as a string");
  }
  if (area !== undefined && (typeof area !== "string" || !Object.hasOwn(areas, area))) {
    const known = Object.keys(areas).join(", ");
    const message = `area ${JSON.stringify(area)} does not exist; known areas: ${known}`;
    throw new RequestError("BATCH_UNKNOWN_AREA", "area", message);
  }
  const named = Object.entries(areas).filter(
    ([name, { functions }]) => (area === undefined || area === name) && functions.includes(fn),
  );
  const fitting = named.filter(([, { accepts }]) => accepts?.(fn, input) === true);
  const candidates = named.length > 1 && fitting.length === 1 ? fitting : named;
  const [only] = candidates;
  if (!only) {
    const message = `function ${JSON.stringify(fn)} does not exist${area ? ` in area ${area}` : ""}`;
    throw new RequestError("BATCH_UNKNOWN_FUNCTION", "fn", message);
  }
  if (candidates.length > 1) {
    const names = candidates.map(([name]) => name).join(", ");
    const message = `more than one area has a function "${fn}"; add "area", one of: ${names}`;
    throw new RequestError("BATCH_AMBIGUOUS_FUNCTION", "area", message);
  }
  const { functions } = await only[1].load();
  const run = functions[fn];
  if (!run) throw new Error(`area ${only[0]} lists "${fn}" but does not have it`);
  return run;
}

function describe(error: unknown): Failure {
  const { code, message, path } = Object(error) as Partial<Failure>;
  return {
    code: typeof code === "string" ? code : "BATCH_FUNCTION_FAILED",
    message: typeof message === "string" ? message : String(error),
    ...(typeof path === "string" ? { path } : {}),
  };
}

function serialise(answer: Answer): string {
  try {
    return JSON.stringify(answer);
  } catch (cause) {
    const message = `the answer cannot be written as JSON: ${(cause as Error).message}`;
    return JSON.stringify({ id: answer.id, error: { code: "BATCH_FUNCTION_FAILED", message } });
  }
}
