import { KubeError } from "@virtkit/kube";
import { expect, test } from "vitest";
import { LiveReads } from "./live-reads.ts";

test("runs a rule until it has seen everything it asks for, with one read each", async () => {
  const reads = new LiveReads();
  const made: string[] = [];
  const read = (key: string, value: unknown) => async (): Promise<unknown> => {
    made.push(key);
    return value;
  };
  const result = await reads.settle(() => {
    const first = reads.ask("a", read("a", "b"));
    return first === "b" ? reads.ask("b", read("b", "end")) : undefined;
  });
  expect(result).toBe("end");
  expect(made).toEqual(["a", "b"]);
});

test("an object that does not exist is undefined, and a failed read is an error", async () => {
  const status = (code: number) => async (): Promise<never> => {
    throw new KubeError("KUBE_STATUS", "no", {
      status: code,
      reason: code === 404 ? "NotFound" : "",
    });
  };
  const absent = new LiveReads();
  expect(await absent.settle(() => absent.ask("a", status(404)) ?? "nothing")).toBe("nothing");
  const failing = new LiveReads();
  await expect(failing.settle(() => failing.ask("a", status(500)))).rejects.toThrow("no");
});

test("a rule that keeps asking for objects ends", async () => {
  const reads = new LiveReads();
  let count = 0;
  await expect(reads.settle(() => reads.ask(String(count++), async () => 1))).rejects.toThrow(
    "8 times",
  );
});
