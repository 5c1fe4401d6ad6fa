import { expect, it } from "vitest";
import { readAuthorities } from "./authority-record.ts";

it.each([
  ["content", "-----BEGIN PRIVATE KEY-----secret"],
  ["version", "{}"],
  ["version", "[]"],
  ["version", JSON.stringify({ version: 2, trustDomain: "lab", authorities: [] })],
  ["trustDomain", JSON.stringify({ version: 1, authorities: [] })],
  ["authorities", JSON.stringify({ version: 1, trustDomain: "lab" })],
  [
    "authorities[0].certificate",
    JSON.stringify({ version: 1, trustDomain: "lab", authorities: [7] }),
  ],
  [
    "authorities[0].certificate",
    JSON.stringify({
      version: 1,
      trustDomain: "lab",
      authorities: [{ certificate: "secret", privateKey: "secret", signsFrom: "2030-01-01" }],
    }),
  ],
  [
    "authorities[0].signsFrom",
    JSON.stringify({
      version: 1,
      trustDomain: "lab",
      authorities: [{ certificate: "secret", privateKey: "secret" }],
    }),
  ],
])("refuses a store with other content, without revealing it: %s", (path, content) => {
  const error = caught(() => readAuthorities(content));
  expect(error).toMatchObject({ code: "PKI_STORE_INVALID", path });
  expect(String(error)).not.toContain("secret");
});

function caught(action: () => unknown): unknown {
  try {
    return action();
  } catch (error) {
    return error;
  }
}
