import { duplexPair } from "node:stream";
import { expect, test } from "vitest";
import { MigrationError } from "../migration-error.ts";
import { type ControlHandler, ControlLink } from "./control-link.ts";
import { agreeOnVersion, answerHello } from "./handover-version.ts";
import { RedialingLink } from "./redialing-link.ts";
import { serveSource } from "./source-end.ts";
import { serveTarget, type TargetEnd } from "./target-end.ts";

const target = {} as TargetEnd;

/** Questions to a peer, and what it was asked. */
function asking(handler: ControlHandler): { link: RedialingLink; asked: string[] } {
  const asked: string[] = [];
  const link = new RedialingLink(async () => {
    const [near, far] = duplexPair();
    new ControlLink(far, {
      handler: async (method, params) => {
        asked.push(method);
        return await handler(method, params);
      },
    });
    return near;
  });
  return { link, asked };
}

test.each([
  ["a target", serveTarget(target)],
  ["a source", serveSource("/nowhere")],
])("%s agrees on the highest version that both sides speak", async (_, handler) => {
  expect(await handler("hello", { versions: [1, 2, 3] })).toEqual({ version: 2 });
  expect(await handler("hello", { versions: [1] })).toEqual({ version: 1 });
});

test("a link agrees before its first question, and says on what", async () => {
  const { link, asked } = asking(async (method, params) =>
    method === "hello" ? answerHello(params) : {},
  );
  expect(link.version).toBeUndefined();
  await Promise.all([link.call("state", {}), link.call("state", {})]);
  expect(asked).toEqual(["hello", "state", "state"]);
  expect(link.version).toBe(2);
  await link.close();
});

/** How both sides of version 1 refuse what they do not know, in their own order. */
const refusals = [
  ["target", "hello.migration.migrationUID"],
  ["target", "method"],
  ["source", undefined],
] as const;

test.each(refusals)(
  "a %s of version 1, which refuses the hello as %s, is spoken to as such",
  async (_, path) => {
    const { link, asked } = asking(async (method) => {
      if (method === "state") return { state: "absent" };
      throw new MigrationError("MIGRATION_INPUT_INVALID", "no", { path: path as string });
    });
    expect(await link.call("state", {})).toEqual({ state: "absent" });
    expect([link.version, asked]).toEqual([1, ["hello", "state"]]);
    await link.close();
  },
);

test("without a version in common nothing is asked, and the error names both", async () => {
  const { link, asked } = asking(async () => answerHello({ versions: [3, 4] }));
  await expect(link.call("prepare", {})).rejects.toMatchObject({
    ...{ code: "MIGRATION_REFUSED", path: "hello.versions" },
    message: expect.stringMatching(/3, 4.*1, 2/),
  });
  expect(asked).toEqual(["hello"]);
});

test("a peer that chooses what it was not offered is not spoken to", async () => {
  const call = async (): Promise<unknown> => ({ version: 7 });
  await expect(agreeOnVersion({ call })).rejects.toMatchObject({ code: "MIGRATION_PEER" });
});

test.each([[undefined], [{}], [{ versions: "2" }], [{ versions: [] }], [{ versions: ["2"] }]])(
  "refuses a hello without usable versions: %j",
  (params) => {
    expect(() => answerHello(params)).toThrow(
      expect.objectContaining({ code: "MIGRATION_REFUSED", path: "hello.versions" }),
    );
  },
);
