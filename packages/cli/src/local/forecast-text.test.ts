import type { MoveForecast } from "@virtkit/local";
import { expect, test } from "vitest";
import { forecastText } from "./forecast-text.ts";

type Movable = Extract<MoveForecast, { readonly obstacle?: undefined }>;

function found(forecast: Partial<Movable["forecast"]>, more: Partial<Movable> = {}): Movable {
  return {
    forecast: {
      ...{ converges: true, end: "preCopy", durationMs: 6_840, downtimeMs: 310, rounds: 2 },
      ...{ transferredBytes: 1e8, ...forecast },
    },
    ...{ memoryBytes: 268e6, usedBytes: 113e6, diskBytes: 0, dirtyBytesPerSecond: 4.2e6 },
    figures: { bytesPerSecond: 12e6, setupMs: 3_000, switchMs: 200, isMeasured: true },
    ...more,
  };
}

test("a guest that can move: how long, how much, and how that is known", () => {
  expect(forecastText("demo", found({}))).toBe(
    [
      "demo can move: in about 6.8 s, with a downtime of about 310 ms",
      "  to send: 113 MB of 268 MB memory, in 2 rounds",
      "  it writes 4.2 MB/s; the link carries 12.0 MB/s (as measured here)",
    ].join("\n"),
  );
});

test.each([
  ["postCopy", /^demo can move by post-copy: in about 6.8 s/],
  ["paused", /would not converge.*would be paused, and complete after about 6.8 s/],
  ["aborted", /would be aborted after about 6.8 s.*try --postcopy/],
  ["never", /would not converge.*try --postcopy/],
] as const)("a move that ends as %s says so", (end, text) => {
  expect(forecastText("demo", found({ end, converges: false }))).toMatch(text);
});

test("a guest that cannot move says why, and unmeasured figures are left out", () => {
  const obstacle = { reason: "HostDeviceNotLiveMigratable", message: "it has\na GPU" };
  expect(forecastText("demo", { obstacle } as MoveForecast)).toMatch(
    /^demo cannot move: HostDeviceNotLiveMigratable: it has.*a GPU$/,
  );
  const unknown = found({}, { dirtyBytesPerSecond: undefined, diskBytes: 5e6 });
  expect(forecastText("demo", unknown)).toContain("how fast it writes has not been measured");
  expect(forecastText("demo", unknown)).toContain("5.0 MB of disks");
});
