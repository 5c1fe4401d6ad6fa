import { inspect } from "node:util";
import { expect, test } from "vitest";
import { Sealed, sealText } from "./sealed.ts";

test("a sealed value shows itself only on request", () => {
  const plan = { user: "fedora", password: new Sealed("hunter2") };
  for (const text of [JSON.stringify(plan), inspect(plan), inspect(plan, { showHidden: true })]) {
    expect(text).toContain("fedora");
    expect(text).not.toContain("hunter2");
  }
  expect(`${plan.password}`).toBe("[sealed]");
  expect(plan.password.reveal()).toBe("hunter2");
});

test("seals text as UTF-8", () => {
  expect([...sealText("é").reveal()]).toEqual([0xc3, 0xa9]);
});
