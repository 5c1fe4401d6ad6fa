import { readdirSync, readFileSync } from "node:fs";
import { type Exploration, explore } from "@virtkit/testing/explore";
import {
  checkText,
  configurationText,
  everydayFaults,
  grantModel,
  guardConfigurations,
} from "@virtkit/testing/grant-model";
import { expect, test } from "vitest";

const results: Exploration<Uint8Array>[] = [];

test.each(everydayFaults.map((options) => [configurationText(options), options] as const))(
  "nothing goes wrong with %s",
  (_, options) => {
    const result = explore(grantModel(options));
    process.stdout.write(`${checkText(options, result)}\n`);
    results.push(result);
    expect(result.violation).toBeUndefined();
    expect(result.exhausted).toBe(true);
  },
);

test("the model is not vacuous: every step, every fault and every end was reached", () => {
  const counts = new Map<string, number>();
  const add = (name: string, count: number) => counts.set(name, (counts.get(name) ?? 0) + count);
  for (const { steps, ends } of results) {
    for (const [name, { kind, count }] of steps) add(`${kind.padEnd(5)} ${name}`, count);
    for (const [name, count] of ends) add(`end   ${name}`, count);
  }
  // What the rules refuse, or a lock, is a step only where they are taken out.
  for (const without of ["list-is-live", "destroy-live-read", "one-agent"] as const) {
    const { steps } = explore(grantModel({ ...guardConfigurations[without], without }));
    for (const [name, { count }] of steps) {
      if (/stale cache|^second agent/.test(name)) add(`wrong ${name}`, count);
    }
  }
  const reached = [...counts.keys()].map((name) => name.slice(6));
  for (const [name, count] of [...counts].sort()) {
    process.stdout.write(`${String(count).padStart(9)} ${name}\n`);
  }
  const missing = labelsInSource().filter((label) => !reached.some((name) => label.test(name)));
  expect(missing).toEqual([]);
});

/** Every step and end that the model's source names: `actor: what it does`. */
function labelsInSource(): RegExp[] {
  const folder = new URL("./", import.meta.url);
  const files = readdirSync(folder).filter((name) => /^(.*-steps|ends)\.ts$/.test(name));
  const labels = files.flatMap((name) => {
    const code = readFileSync(new URL(name, folder), "utf8").replace(
      /^import .*$|^ *(\/\/|\*|\/\*).*$/gm,
      "",
    );
    return [
      ...code.matchAll(
        /"([a-z][^"\n]*: [^"\n]+|exactly[^"]+|ended[^"]+)"|`([a-z][^`\n]*: [^`\n]+)`/g,
      ),
    ];
  });
  expect(labels.length).toBeGreaterThan(50);
  return labels.map(([, plain, template = ""]) => {
    const text = (plain ?? template).replace(/\$\{[^}]*\}/g, "\0");
    const escaped = text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll("\0", ".*");
    return new RegExp(`^${escaped}`);
  });
}
