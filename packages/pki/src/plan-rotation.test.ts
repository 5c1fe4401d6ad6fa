import { describe, expect, it } from "vitest";
import { type AuthorityTimes, defaultRotation, planRotation, signerOf } from "./plan-rotation.ts";

const hour = 3_600_000;
const at = (hours: number): Date => new Date(Date.UTC(2030, 0, 1) + hours * hour);
const authority = (signsFrom: number, expires: number): AuthorityTimes => ({
  signsFrom: at(signsFrom),
  expires: at(expires),
});
const plan = (authorities: AuthorityTimes[], hours: number, force = false) =>
  planRotation(authorities, at(hours), defaultRotation, { force });

describe("a rotation", () => {
  const first = authority(0, 168);
  const second = authority(135, 302);

  it("creates the first authority, which signs at once", () => {
    expect(plan([], 0)).toEqual({ keep: [], add: first });
  });

  it("does nothing while the last one has time left", () => {
    expect(plan([first], 133)).toEqual({ keep: [first] });
  });

  it("announces the next one before it signs", () => {
    expect(plan([first], 134)).toEqual({ keep: [first], add: second });
    expect(signerOf([first, second], at(134))).toBe(first);
    expect(signerOf([first, second], at(135))).toBe(second);
  });

  it("trusts the old one until its last certificate has expired, and no longer", () => {
    expect(plan([first, second], 159)).toEqual({ keep: [first, second] });
    expect(plan([first, second], 160)).toEqual({ keep: [second] });
  });

  it("on request happens now, and once", () => {
    const forced = authority(11, 178);
    expect(plan([first], 10, true)).toEqual({ keep: [first], add: forced });
    expect(plan([first, forced], 10.5, true)).toEqual({ keep: [first, forced] });
  });

  it("that was missed ends in one authority that signs at once", () => {
    expect(plan([first], 1_000)).toEqual({ keep: [], add: authority(1_000, 1_168) });
  });

  it.each([
    { renewBefore: hour },
    { authorityLifetime: hour },
    { certificateLifetime: 0 },
    { announce: -1 },
    { renewBefore: Number.NaN },
  ])("with contradictory times is refused: %o", (change) => {
    expect(() => planRotation([], at(0), { ...defaultRotation, ...change })).toThrow(
      expect.objectContaining({ code: "PKI_INPUT_INVALID", path: "rotation" }),
    );
  });
});
