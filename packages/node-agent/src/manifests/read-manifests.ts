import { open } from "node:fs/promises";
import type { Readable } from "node:stream";
import {
  defaultLimits,
  type ManifestLimits,
  type Manifests,
  parseManifests,
} from "./parse-manifests.ts";

/** Where `-` is read from. */
export interface ManifestInput {
  readonly stdin: Readable;
}

/**
 * Reads files, or stdin for `-`, as YAML or JSON with any number of documents each. The items of lists, both plain
 * lists and objects such as `List` and `PodList`, become separate documents. An unreadable file is a problem like
 * any other.
 */
export async function readManifests(
  sources: readonly string[],
  io: ManifestInput,
  limits: Partial<ManifestLimits> = {},
): Promise<Manifests> {
  const bounds = { ...defaultLimits, ...limits };
  const all: Manifests[] = [];
  for (const source of sources) all.push(await readSource(source, io, bounds));
  return {
    documents: all.flatMap(({ documents }) => documents),
    problems: all.flatMap(({ problems }) => problems),
  };
}

async function readSource(
  source: string,
  io: ManifestInput,
  limits: ManifestLimits,
): Promise<Manifests> {
  try {
    const bytes =
      source === "-"
        ? await readBounded(io.stdin, limits.maxBytes)
        : await readFile(source, limits.maxBytes);
    if (bytes === undefined) {
      return unreadable(source, `has more than ${limits.maxBytes} bytes; split it`);
    }
    return parseManifests(new TextDecoder("utf-8", { fatal: true }).decode(bytes), source, limits);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const notText = code === "ERR_ENCODING_INVALID_ENCODED_DATA";
    return unreadable(
      source,
      notText ? "is not UTF-8 text" : `cannot be read: ${reasonIn(message)}`,
    );
  }
}

/** Node's message without the call and the path, which the sentence already names: `ENOENT: no such file or directory`. */
function reasonIn(message: string): string {
  return /^E[A-Z]+: [^,]+/.exec(message)?.[0] ?? message;
}

async function readFile(name: string, maxBytes: number): Promise<Buffer | undefined> {
  await using file = await open(name, "r");
  return await readBounded(file.createReadStream({ autoClose: false }), maxBytes);
}

async function readBounded(input: Readable, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of input) {
    const bytes = typeof chunk === "string" ? Buffer.from(chunk) : (chunk as Buffer);
    size += bytes.length;
    if (size > maxBytes) return undefined;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

function unreadable(source: string, what: string): Manifests {
  const name = source === "-" ? "stdin" : source;
  return { documents: [], problems: [{ source, line: 1, column: 1, message: `${name} ${what}` }] };
}
