import { expect, test } from "vitest";
import { domainWith } from "../testing/conversion.ts";

test("writes the number of I/O threads only if there are any", () => {
  expect(domainWith().iothreads).toBeUndefined();
  expect(domainWith({ domain: { ioThreadsPolicy: "shared" } }).iothreads).toBeUndefined();
  const domain = {
    ioThreadsPolicy: "supplementalPool",
    ioThreads: { supplementalPoolThreadCount: 2 },
  };
  expect(domainWith({ domain }).iothreads).toBe(2);
});
