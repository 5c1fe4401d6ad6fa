import { expect, test } from "vitest";
import {
  type FeatureGate,
  type FeatureGateState,
  featureGates,
  isGateOn,
} from "./feature-gates.ts";

const stateOf = (gate: FeatureGate): FeatureGateState => featureGates[gate];
const gates = Object.keys(featureGates) as FeatureGate[];

test.each([
  ["Alpha", false],
  ["Beta", true],
  ["General Availability", true],
  ["Deprecated", false],
  ["Discontinued", false],
])("%s gates that nobody names are on: %s", (state, on) => {
  const inState = gates.filter((gate) => stateOf(gate) === state);
  expect(inState.length).toBeGreaterThan(0);
  for (const gate of inState) expect([gate, isGateOn(gate, {})]).toEqual([gate, on]);
});

test("naming a gate turns it on, whatever its state", () => {
  for (const gate of gates) {
    expect([gate, isGateOn(gate, { featureGates: [gate] })]).toEqual([gate, true]);
  }
});

test("disabling turns off everything but general availability", () => {
  for (const gate of gates) {
    const on = isGateOn(gate, { disabledFeatureGates: [gate] });
    expect([gate, on]).toEqual([gate, stateOf(gate) === "General Availability"]);
  }
});

test("a gate in both lists is on", () => {
  const both = { featureGates: ["Snapshot"], disabledFeatureGates: ["Snapshot"] };
  expect(isGateOn("Snapshot", both)).toBe(true);
});

test("a gate that does not exist is off, even if enabled", () => {
  for (const name of ["NoSuchGate", "toString", "__proto__"]) {
    expect(isGateOn(name as FeatureGate, { featureGates: [name] })).toBe(false);
  }
});
