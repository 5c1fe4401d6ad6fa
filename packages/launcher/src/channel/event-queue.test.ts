import type { GuestEvent } from "@virtkit/domain-manager";
import { expect, test } from "vitest";
import { EventQueue } from "./event-queue.ts";

const status = (hostname: string): GuestEvent => ({
  at: hostname,
  kind: "status",
  status: {
    name: "n",
    state: "Running",
    reason: "",
    agent: "connected",
    interfaces: [],
    disks: [],
    hostname,
  },
});
const stage: GuestEvent = { at: "s", kind: "stage", stage: "ready", state: "done" };

const drain = (queue: EventQueue): string[] => {
  const items: string[] = [];
  for (let item = queue.take(); item; item = queue.take()) items.push(`${item.kind} ${item.at}`);
  return items;
};

test("returns events in order", () => {
  const queue = new EventQueue(3);
  for (const event of [status("1"), stage, status("2")]) queue.add(event);
  expect(drain(queue)).toEqual(["status 1", "stage s", "status 2"]);
});

test("drops all if too many wait, and keeps the newest status", () => {
  const queue = new EventQueue(2);
  for (const event of [status("1"), status("2"), stage]) queue.add(event);
  expect(drain(queue)).toEqual(["resync s", "status 2"]);
  for (const event of [stage, stage, status("3"), stage]) queue.add(event);
  expect(drain(queue)).toEqual(["resync s", "status 3"]);
});

test("has no status to return before it has seen one", () => {
  const queue = new EventQueue(1);
  queue.add(stage);
  queue.add(stage);
  expect(drain(queue)).toEqual(["resync s"]);
});
