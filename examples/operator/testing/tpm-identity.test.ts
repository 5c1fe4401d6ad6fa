import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { sharedSecrets } from "./tpm-identity.ts";

/** The same bytes for the same name, which look random. */
const key = (name: string): Buffer => createHash("sha512").update(name).digest();
const zeros = Buffer.alloc(100);

test("a state that was written again has the same secrets, wherever they are", () => {
  const before = Buffer.concat([Buffer.from("v1"), key("seed"), zeros, key("certificate")]);
  const after = Buffer.concat([zeros, key("certificate"), Buffer.from("v22"), key("seed")]);
  expect(sharedSecrets(before, before)).toBe(1);
  expect(sharedSecrets(before, after)).toBeGreaterThan(0.8);
});

test("control: another TPM shares constants only, and a state without secrets proves nothing", () => {
  const [one, other] = ["one", "other"].map((name) => Buffer.concat([zeros, key(name), zeros]));
  expect(sharedSecrets(one as Buffer, other as Buffer)).toBeLessThan(0.1);
  expect(sharedSecrets(zeros, zeros)).toBe(0);
});
