import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { batchAreas } from "../areas/areas.ts";
import type { BatchArea } from "./batch-area.ts";
import { runBatch } from "./run-batch.ts";
import { sampleRequests } from "./sample-requests.ts";

/** Values in a request where something else belongs. */
const oddValues: readonly unknown[] = [undefined, null, 7, "x", [null], {}];

interface OddRequest {
  readonly area: string;
  readonly fn: string;
  /** Where it is odd, and how. */
  readonly oddity: string;
  readonly input: unknown;
  readonly context: unknown;
}

/** How many odd requests a function gets: of thousands, the outermost, and this many of the rest. */
const [outermost, deeper] = [54, 60];

/** Requests that differ from a sample in one place, the outermost places first. */
function oddRequests(call: string): readonly OddRequest[] {
  const depth = ({ oddity }: OddRequest): number => oddity.split("/").length;
  const all = [...everyOddRequest(call)].sort((a, b) => depth(a) - depth(b));
  const rest = all.slice(outermost);
  const share = Math.min(1, deeper / rest.length);
  const spread = rest.filter((_, at) => Math.floor(at * share) < Math.floor((at + 1) * share));
  return [...all.slice(0, outermost), ...spread];
}

function* everyOddRequest(call: string): Generator<OddRequest> {
  const [area = "", fn = ""] = call.split("/");
  const { input, context } = sampleRequests[call] ?? {};
  for (const odd of oddValues) {
    const shown = JSON.stringify(odd) ?? "missing";
    for (const [path, changed] of variants({ input, context }, odd, "")) {
      const request = changed as { input: unknown; context: unknown };
      yield { area, fn, oddity: `${path} ${shown}`, ...request };
    }
  }
}

function* variants(value: unknown, odd: unknown, path: string): Generator<[string, unknown]> {
  if (typeof value !== "object" || value === null) return;
  for (const [key, field] of Object.entries(value)) {
    const at = `${path}/${key}`;
    const put = (changed: unknown): unknown =>
      Array.isArray(value)
        ? value.map((item, index) => (`${index}` === key ? changed : item))
        : { ...value, [key]: changed };
    yield [at, put(odd)];
    for (const [deeper, changed] of variants(field, odd, at)) yield [deeper, put(changed)];
  }
}

/** The oddities that make a function fail unintentionally. */
async function rawFailures(
  call: string,
  areas: Readonly<Record<string, BatchArea>>,
): Promise<readonly string[]> {
  const requests = oddRequests(call);
  const lines = requests.map(({ oddity: _, ...request }) => `${JSON.stringify(request)}\n`);
  let answers = "";
  const write = async (line: string): Promise<void> => {
    answers += line;
  };
  await runBatch(Readable.from(lines.map((line) => Buffer.from(line))), write, { areas });
  return answers
    .split("\n")
    .slice(0, -1)
    .flatMap((line, index) => {
      const { error } = JSON.parse(line) as { error?: { code: string; message: string } };
      const failed = error?.code === "BATCH_FUNCTION_FAILED";
      return failed ? [`${call} ${requests[index]?.oddity}: ${error.message}`] : [];
    });
}

const all = Object.entries(batchAreas).flatMap(([area, { functions }]) =>
  functions.map((fn) => `${area}/${fn}`),
);

test("there is a sample for every function, and each is answered", async () => {
  expect(Object.keys(sampleRequests).sort()).toEqual([...all].sort());
  for (const [call, { input, context }] of Object.entries(sampleRequests)) {
    const [area = "", fn = ""] = call.split("/");
    const run = (await batchAreas[area]?.load())?.functions[fn];
    expect(() => run?.(input, context), call).not.toThrow();
  }
});

test.each(all)("%s answers a malformed request, or says what is wrong with it", async (call) => {
  expect(await rawFailures(call, batchAreas)).toEqual([]);
});

test("control: a function that trusts the shape of its input is found", async () => {
  type Trusted = { vmi: { spec: { domain: { devices: object } } } };
  const trusting = (input: unknown): unknown => (input as Trusted).vmi.spec.domain.devices;
  const functions = { convert: trusting };
  const areas = {
    converter: { functions: ["convert"], load: () => Promise.resolve({ functions }) },
  };
  const found = await rawFailures("converter/convert", areas);
  expect(found).toContainEqual(expect.stringContaining("/input/vmi/spec null"));
});
