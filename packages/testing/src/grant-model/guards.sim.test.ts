import { guards } from "@virtkit/api/grant";
import { explore, replay } from "@virtkit/testing/explore";
import {
  type AnyGuard,
  configurationText,
  counterexampleText,
  covers,
  everyday,
  everydayFaults,
  grantModel,
  guardConfigurations,
  partGuards,
} from "@virtkit/testing/grant-model";
import { expect, test } from "vitest";

const names = Object.keys({ ...guards, ...partGuards }) as AnyGuard[];

test.each(names)("without the guard %s something goes wrong, and it can be replayed", (without) => {
  const options = guardConfigurations[without];
  const model = grantModel({ ...options, without });
  const { violation, states } = explore(model);
  expect(violation, configurationText(options)).toBeDefined();
  if (!violation) return;
  const { rule, message, trace } = violation;
  const found = rule === "progress" ? "no good end" : message;
  const size = `${trace.steps.length} steps, ${states} states`;
  process.stdout.write(`| ${without} | ${found} | ${size} | ${counterexampleText(trace)} |\n`);
  expect(replay(model, trace)).toEqual(trace.steps.at(-1)?.state);
});

test("with the guard, nothing goes wrong there: an exhaustively checked configuration covers it", () => {
  for (const name of names) {
    const isCovered = [everyday, ...everydayFaults].some((large) =>
      covers(large, guardConfigurations[name]),
    );
    expect(isCovered, name).toBe(true);
  }
});
