import { expect, test } from "vitest";
import { parseNetwork } from "./parse-network.ts";

test("a guest is isolated by default", () => {
  expect(parseNetwork(undefined)).toBe("isolated");
  expect(parseNetwork("open")).toBe("open");
});

test("refuses anything else, with the alternatives", () => {
  expect(() => parseNetwork("host")).toThrow("--network host: use isolated or open");
});
