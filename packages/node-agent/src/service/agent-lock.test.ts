import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { lockNode, nodeLockFile } from "./agent-lock.ts";

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "virtkit-lock-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

test("a second agent does not get a node until the first has ended, whatever its state directory", () => {
  const directory = newDirectory();
  const [first, second] = ["a", "b"].map((name) => ({
    ...{ nodeName: "n1", runDirectory: join(directory, "run") },
    stateDirectory: join(directory, name),
  })) as [Parameters<typeof lockNode>[0], Parameters<typeof lockNode>[0]];
  {
    using _ = lockNode(first);
    for (const again of [first, second]) {
      expect(() => lockNode(again)).toThrow(
        expect.objectContaining({
          code: "AGENT_LOCKED",
          message: expect.stringContaining("works on node n1; stop it first") as string,
        }),
      );
    }
  }
  using _ = lockNode(second);
});

test("agents of different nodes may share a host, but not a state directory", () => {
  const directory = newDirectory();
  const node = (nodeName: string, state: string): Parameters<typeof lockNode>[0] => ({
    ...{ nodeName, runDirectory: join(directory, "run") },
    stateDirectory: join(directory, state),
  });
  using _ = lockNode(node("n1", "a"));
  using __ = lockNode(node("n2", "b"));
  expect(() => lockNode(node("n3", "a"))).toThrow(
    expect.objectContaining({ code: "AGENT_LOCKED", path: join(directory, "a", "agent.lock") }),
  );
  // What was refused holds nothing.
  using ___ = lockNode(node("n3", "c"));
});

test("the lock is on the node, not in the agent's container, unless another place is named", () => {
  const onNode = "/proc/1/root/run/virtkit/agent-of-n1.lock";
  expect(nodeLockFile({ nodeName: "n1" })).toBe(onNode);
  expect(nodeLockFile({ nodeName: "n1", runDirectory: "/x" })).toBe("/x/agent-of-n1.lock");
});
