import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";

const attackers = 8;

/** Many processes that claim when they are told to. */
class Crowd {
  readonly #children: ChildProcess[];
  readonly #lines: AsyncIterator<string>[];

  constructor(how: "real" | "naive", directory: string) {
    const script = new URL("../testing/claim-child.mjs", import.meta.url).pathname;
    this.#children = Array.from({ length: attackers }, () =>
      spawn(process.execPath, [script, how, directory], { stdio: ["pipe", "pipe", "inherit"] }),
    );
    this.#lines = this.#children.map(({ stdout }) => {
      if (!stdout) throw new Error("no output");
      return createInterface({ input: stdout })[Symbol.asyncIterator]();
    });
  }

  /** One line of each. */
  async said(): Promise<string[]> {
    return await Promise.all(this.#lines.map(async (lines) => String((await lines.next()).value)));
  }

  /** All claim at once; who won is known when the last one has answered. */
  async claim(): Promise<string[]> {
    for (const { stdin } of this.#children) stdin?.write("now\n");
    return await this.said();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(
      this.#children.map(async (child) => {
        const ended = once(child, "exit");
        child.kill("SIGKILL");
        await ended;
      }),
    );
  }
}

let directory = "";
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "virtkit-attack-"));
});
afterAll(() => rmSync(directory, { recursive: true }));

test("of many who claim at once exactly one wins, round after round of ended holders", async () => {
  for (let round = 0; round < 4; round++) {
    await using crowd = new Crowd("real", directory);
    await crowd.said();
    const first = await crowd.claim();
    expect(first.filter((word) => word === "won")).toHaveLength(1);
    // The holder gets its claim again, the others still do not.
    expect(await crowd.claim()).toEqual(first);
  }
});

test("the same attack beats a claim that looks and then writes", async () => {
  const naive = mkdtempSync(join(directory, "naive-"));
  await using crowd = new Crowd("naive", naive);
  await crowd.said();
  const words = await crowd.claim();
  expect(words.filter((word) => word === "won").length).toBeGreaterThan(1);
});
