import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";

const attackers = 8;

/** Many processes that claim when they are told to. */
type Crowd = AsyncDisposable & {
  /** One line of each. */
  said(): Promise<string[]>;
  /** All claim at once; who won is known when the last one has answered. */
  claim(): Promise<string[]>;
};

function gather(how: "real" | "naive", directory: string): Crowd {
  const script = new URL("../testing/claim-child.mjs", import.meta.url).pathname;
  const children = Array.from({ length: attackers }, () =>
    spawn(process.execPath, [script, how, directory], { stdio: ["pipe", "pipe", "inherit"] }),
  );
  const lines = children.map(({ stdout }) =>
    createInterface({ input: stdout })[Symbol.asyncIterator](),
  );
  const said = async (): Promise<string[]> =>
    await Promise.all(lines.map(async (each) => String((await each.next()).value)));
  return {
    said,
    async claim() {
      for (const { stdin } of children) stdin.write("now\n");
      return await said();
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(
        children.map(async (child) => {
          const ended = once(child, "exit");
          child.kill("SIGKILL");
          await ended;
        }),
      );
    },
  };
}

let directory = "";
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "virtkit-attack-"));
});
afterAll(() => rmSync(directory, { recursive: true }));

test("exactly one of many concurrent claimants wins, in every round of ended holders", async () => {
  for (let round = 0; round < 3; round++) {
    await using crowd = gather("real", directory);
    await crowd.said();
    const first = await crowd.claim();
    expect(first.filter((word) => word === "won")).toHaveLength(1);
    // The holder gets its claim again, the others still do not.
    expect(await crowd.claim()).toEqual(first);
  }
});

test("control: the same attack beats a claim that checks and then writes", async () => {
  const naive = mkdtempSync(join(directory, "naive-"));
  await using crowd = gather("naive", naive);
  await crowd.said();
  const words = await crowd.claim();
  expect(words.filter((word) => word === "won").length).toBeGreaterThan(1);
});
