import { expect, test } from "vitest";
import { runVirtkit as virtkit } from "./testing/run-virtkit.ts";

test("--help lists every command on stdout and exits 0", async () => {
  const { code, out, err } = await virtkit(["--help"]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toContain("batch");
});

test("--version prints only the version of the package", async () => {
  expect((await virtkit(["--version"])).out).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test("help for one command comes from the command itself, however it is requested", async () => {
  const asked = await Promise.all([virtkit(["batch", "--help"]), virtkit(["help", "batch"])]);
  for (const { code, out } of asked) {
    expect(code).toBe(0);
    expect(out).toContain("Usage: virtkit batch");
  }
});

test.each([
  [[], "virtkit COMMAND --help"],
  [["nope"], "Try: virtkit --help"],
  [["toString"], "Try: virtkit --help"],
  [["batch", "extra"], "Try: virtkit batch --help"],
])("wrong usage %j exits 2, writes nothing to stdout and says: %s", async (args, help) => {
  const { code, out, err } = await virtkit(args);
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).toContain(help);
});

test("batch answers each line of stdin on stdout", async () => {
  const { code, out } = await virtkit(["batch"], '{"id":1,"fn":"nope"}\nnot json\n');
  const answers = out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(code).toBe(0);
  expect(answers).toMatchObject([
    { id: 1, error: { code: "BATCH_UNKNOWN_FUNCTION", path: "fn" } },
    { id: null, error: { code: "BATCH_NOT_JSON" } },
  ]);
});
