import { describe, expect, test } from "vitest";
import { domainWith } from "../testing/conversion.ts";

describe("clock", () => {
  test.each([
    [{ utc: {} }, { offset: "utc", adjustment: "reset" }],
    [{ utc: { offsetSeconds: 0 } }, { offset: "utc", adjustment: "0" }],
    [{ timezone: "Europe/Berlin" }, { offset: "timezone", timezone: "Europe/Berlin" }],
    [{ utc: {}, timezone: "Europe/Berlin" }, { offset: "utc" }],
    [{}, { timers: [] }],
  ])("of %j is %j", (clock, expected) => {
    expect(domainWith({ domain: { clock } }).clock).toMatchObject(expected);
  });

  test("has timers in a fixed order, on by default", () => {
    const timer = {
      hyperv: { present: false },
      hpet: { tickPolicy: "merge" },
      kvm: {},
      pit: { tickPolicy: "delay" },
      rtc: { tickPolicy: "catchup", track: "guest" },
    };
    expect(domainWith({ domain: { clock: { timer } } }).clock?.timers).toEqual([
      { name: "rtc", present: "yes", tickpolicy: "catchup", track: "guest" },
      { name: "pit", present: "yes", tickpolicy: "delay" },
      { name: "kvmclock", present: "yes" },
      { name: "hpet", present: "yes", tickpolicy: "merge" },
      { name: "hypervclock", present: "no" },
    ]);
  });

  test("sets the TSC frequency only for guests that need it", () => {
    const status = { topologyHints: { tscFrequency: 2_000_000_000 } };
    const invtsc = (policy: string): unknown =>
      domainWith({ status, domain: { cpu: { features: [{ name: "invtsc", policy }] } } }).clock;
    const expected = { timers: [{ name: "tsc", frequency: 2_000_000_000 }] };
    expect(invtsc("require")).toEqual(expected);
    expect(invtsc("disable")).toBeUndefined();
    const hyperv = { reenlightenment: { enabled: true } };
    expect(domainWith({ status, domain: { features: { hyperv } } }).clock).toEqual(expected);
    expect(domainWith({ status }).clock).toBeUndefined();
  });
});
