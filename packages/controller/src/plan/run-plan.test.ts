import { expect, test } from "vitest";
import type { Plan } from "./plan.ts";
import { runPlan } from "./run-plan.ts";

const about = { kind: "VirtualMachineInstance", metadata: { name: "vm" } };

async function run(plan: Plan, subject: typeof about | undefined = about) {
  const told: unknown[] = [];
  const target = { write: async () => undefined };
  const record = (of: unknown, event: unknown): number => told.push([of, event]);
  const answer = runPlan(() => plan, { target, record }, { key: "ns/vm", about: subject });
  return { told, answer: await answer.catch((error: unknown) => error) };
}

const event = { type: "Normal", reason: "Done", message: "it is done" } as const;

test("events are about their own object, or about that of the plan", async () => {
  const node = { kind: "Node", metadata: { name: "n1" } };
  const { told } = await run({ writes: [], events: [event, { ...event, about: node }] });
  expect(told).toEqual([
    [about, event],
    [node, event],
  ]);
});

test("returns the time until the next look in milliseconds", async () => {
  const { answer } = await run({ writes: [], events: [], requeueAfterSeconds: 10 });
  expect(answer).toEqual({ requeueAfter: 10_000 });
});

test("throws what could not be done, after reporting the events", async () => {
  const error = { kind: "sync", reason: "FailedCreate", message: "the Pod was refused" } as const;
  const { told, answer } = await run({ writes: [], events: [event], error });
  expect(told).toHaveLength(1);
  expect(answer).toMatchObject({
    code: "CONTROLLER_PASS_INCOMPLETE",
    path: "ns/vm",
    reason: "FailedCreate",
  });
});
