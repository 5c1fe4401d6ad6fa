import { expect, test } from "vitest";
import { KeptAgents } from "./kept-agents.ts";

test("connections are kept until the certificate changes", () => {
  const agents = new KeptAgents({ host: "127.0.0.1", port: 443, isSecure: true });
  const tls = (cert: string) => ({ ca: Buffer.from("CA"), cert: Buffer.from(cert), key: "KEY" });
  const first = agents.get(tls("one"));
  expect(agents.get(tls("one"))).toBe(first);
  const renewed = agents.get(tls("two"));
  expect(renewed).not.toBe(first);
  // What is at work on the old one ends there, and is not kept.
  expect(first.watches.maxFreeSockets).toBe(0);
  expect(renewed.watches.maxFreeSockets).toBeGreaterThan(0);
});
