import { spawnSync } from "node:child_process";
import path from "node:path";
import { expect, test } from "vitest";
import { root } from "./setup.mjs";
import { help, startOptions } from "./start-options.mjs";

test.each([
  ["", { mode: "local", once: false }],
  ["--once", { mode: "local", once: true }],
  ["--cluster", { mode: "cluster", once: false, dev: false }],
  ["--cluster --once", { mode: "cluster", once: true, dev: false }],
  ["--once --cluster", { mode: "cluster", once: true, dev: false }],
  ["--dev --once --cluster", { mode: "cluster", once: true, dev: true }],
  ["--explain", { mode: "explain", file: undefined }],
  ["--explain vmi.yaml", { mode: "explain", file: "vmi.yaml" }],
  ["vmi.yaml --explain", { mode: "explain", file: "vmi.yaml" }],
  ["--help", { mode: "help" }],
  ["--cluster -h", { mode: "help" }],
])("npm start -- %s", (line, expected) => {
  expect(startOptions(line.split(" ").filter(Boolean))).toEqual(expected);
});

test.each([
  ["--onec", "--onec is not an option; use --once, --cluster [--once] [--dev], or --explain"],
  ["--cluster --nodes 3", "--nodes is not an option"],
  ["--cluster=yes", "--cluster=yes is not an option"],
  ["vm.yaml", '"vm.yaml" is not an option'],
  ["--once vm.yaml", '"vm.yaml" is not an option'],
  ["--explain a.yaml b.yaml", '"b.yaml" is not an option'],
  ["--explain --once", "--explain boots nothing"],
  ["--dev", "add --cluster"],
  ["--once --dev", "add --cluster"],
])("npm start -- %s is refused: nothing is ignored", (line, reason) => {
  expect(() => startOptions(line.split(" "))).toThrow(reason);
});

test("--help lists every option, and sets nothing up", () => {
  const program = path.join(root, "tools/start.mjs");
  const { status, stdout } = spawnSync(process.execPath, [program, "--help"], { encoding: "utf8" });
  expect([status, stdout]).toEqual([0, help]);
  for (const option of ["--once", "--cluster", "--dev", "--explain"])
    expect(help).toContain(option);
});

test("the program refuses before it sets anything up", () => {
  const program = path.join(root, "tools/start.mjs");
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, "--once", "--clutser"], {
    encoding: "utf8",
  });
  expect([status, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(/^start: --clutser is not an option; use .*\n$/);
});

test("a cluster without root is refused with the command to run, before anything is set up", () => {
  const program = path.join(root, "tools/start.mjs");
  // The files may be where only root can read them.
  const other = "data:text/javascript,process.getuid=()=>1000";
  const args = ["--import", other, program, "--cluster", "--dev"];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect([status, stdout]).toEqual([1, ""]);
  expect(stderr).toBe(
    "start: a cluster on this host needs root; run: sudo npm start -- --cluster --dev\n",
  );
});
