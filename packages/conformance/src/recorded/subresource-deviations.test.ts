import { at } from "@virtkit/api/shape";
import { expect, test } from "vitest";
import { answerCase } from "./answer-case.ts";
import { withoutWords } from "./compare-answers.ts";
import { deviations, subresourceReasons } from "./deviations.ts";
import { type RecordedCase, recordedCases } from "./recorded-cases.ts";

/*
 * A listed case has an answer that differs. Here each reason says how it may differ: everything else must be as
 * recorded, so that a listed case cannot hide a second difference.
 */

const refusals = { 400: "BadRequest", 404: "NotFound", 409: "Conflict", 422: "Invalid" } as const;

/** The answer instead of the recorded one, or a sentence on why no such answer is allowed. */
type Allowed = (
  recorded: RecordedCase,
  answer: object,
) => object | string | Promise<object | string>;

const unchanged = (expected: unknown): object => ({
  actions: at(expected, "actions"),
  handler: at(expected, "handler"),
});

/** A Status with another code, and its subject; nothing else differs from KubeVirt. */
function refusedWith(codes: readonly (keyof typeof refusals)[]): Allowed {
  return ({ expected }, answer) => {
    if (at(expected, "code") !== 500) return "KubeVirt does not answer 500";
    const code = codes.find((known) => known === at(answer, "code"));
    if (code === undefined) return `the code is none of ${codes.join(", ")}`;
    const details = at(answer, "details");
    const isAbout = code === 400 ? details === undefined : at(details, "name") === "testvm";
    if (!isAbout) return "the details do not name the object";
    const about = code === 400 ? {} : { details };
    return { ...unchanged(expected), code, reason: refusals[code], ...about };
  };
}

const denied: Allowed = ({ expected }) =>
  at(expected, "allowed") === true ? { allowed: false } : "KubeVirt does not allow it";

const allowed: Readonly<Record<keyof typeof subresourceReasons, Allowed>> = {
  emptyDryRun: async (recorded) => {
    if (at(recorded.expected, "panic") !== true) return "KubeVirt does not crash";
    const { dryRun, ...body } = JSON.parse(String(at(recorded.input, "body")));
    if (!Array.isArray(dryRun) || dryRun.length > 0) return "the list is not empty";
    // As without the list.
    const input = { ...(recorded.input as object), body: JSON.stringify(body) };
    const given = await answerCase({ ...recorded, input });
    return "thrown" in given ? given.thrown : (withoutWords(given.answer) as object);
  },
  noProfiler: denied,
  foreignGroup: denied,
  noNameGiven: ({ input, expected }) => ({
    code: 200,
    handler: [],
    actions: [
      {
        ...(at(expected, "actions") as readonly object[])[0],
        patch: [
          {
            op: "test",
            path: "/status/evacuationNodeName",
            value: at(input, "vmi", "status", "evacuationNodeName"),
          },
          { op: "remove", path: "/status/evacuationNodeName" },
        ],
      },
    ],
  }),
  refusedStop: ({ expected }) =>
    at(expected, "code") === 409
      ? { ...(expected as object), actions: [] }
      : "KubeVirt does not refuse it",
  plainGet: () => ({ code: 400, reason: refusals[400], actions: [], handler: [] }),
  plainText: ({ expected }) =>
    at(expected, "plainText") === true && at(expected, "code") === 500
      ? { ...unchanged(expected), code: 500, reason: "InternalError" }
      : "KubeVirt does not answer with a text",
  nodeCode: (recorded, answer) =>
    at(answer, "code") === at(recorded.context, "handler", "code")
      ? refusedWith([400, 404, 409])(recorded, answer)
      : "the code is not the node's",
  invalidWrite: refusedWith([422]),
  noAgent: refusedWith([400]),
  clientFault: refusedWith([400, 404, 409]),
};

const listed = recordedCases("subresources").filter(
  ({ name }) => deviations["subresources"]?.[name] !== undefined,
);

async function fault(recorded: RecordedCase, change: object = {}): Promise<unknown> {
  const reason = Object.entries(subresourceReasons).find(
    ([, words]) => words === deviations["subresources"]?.[recorded.name],
  );
  const given = await answerCase(recorded);
  if ("thrown" in given || !reason) return given;
  const answer = { ...(withoutWords(given.answer) as object), ...change };
  const right = await allowed[reason[0] as keyof typeof allowed](recorded, answer);
  if (typeof right === "string") return right;
  try {
    expect(answer).toEqual(right);
    return undefined;
  } catch (error) {
    return String(error);
  }
}

test.each(listed.map((recorded) => [recorded.name, recorded] as const))(
  "%s differs only as its reason says",
  async (_, recorded) => {
    expect(await fault(recorded)).toBeUndefined();
  },
);

test("finds an answer that differs in more than its reason says, in every listed case", async () => {
  expect(listed.length).toBeGreaterThan(0);
  for (const recorded of listed) {
    expect([recorded.name, await fault(recorded, { code: 201, allowed: true })]).not.toEqual([
      recorded.name,
      undefined,
    ]);
  }
});
