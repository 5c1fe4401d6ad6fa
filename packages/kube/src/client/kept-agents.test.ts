import { expect, test } from "vitest";
import { KeptAgents } from "./kept-agents.ts";

test("connections are kept while the certificate says the same, and not beyond", () => {
  const agents = new KeptAgents(true);
  const tls = (cert: string) => ({ ca: Buffer.from("CA"), cert: Buffer.from(cert), key: "KEY" });
  const first = agents.get(tls("one"), "requests");
  expect(agents.get(tls("one"), "requests")).toBe(first);
  expect(agents.get(tls("one"), "watches")).not.toBe(first);
  const renewed = agents.get(tls("two"), "requests");
  expect(renewed).not.toBe(first);
  // What is at work on the old one ends there, and is not kept.
  expect(first.maxFreeSockets).toBe(0);
  expect(renewed.maxFreeSockets).toBeGreaterThan(0);
});
