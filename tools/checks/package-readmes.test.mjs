import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { commands } from "../../packages/cli/src/commands.ts";
import { root } from "../setup.mjs";
import { commandTableFaults, readmeFaults } from "./readme-faults.mjs";
import { workspaceMembers } from "./workspace-members.mjs";

const published = workspaceMembers(root).filter((member) => member.published);

/** @param {string} file */
function read(file) {
  return readFileSync(path.join(root, file), "utf8");
}

test.each(published)(
  "the README of $name has every part, and lists every entry point",
  ({ folder }) => {
    const manifest = JSON.parse(read(`${folder}/package.json`));
    const deviates = existsSync(path.join(root, folder, "deviations.md"));
    expect(readmeFaults(read(`${folder}/README.md`), manifest, { deviates })).toEqual([]);
  },
);

test("the README of the cli lists every command", () => {
  expect(commandTableFaults(read("packages/cli/README.md"), Object.keys(commands))).toEqual([]);
});

describe("control", () => {
  const manifest = {
    name: "@virtkit/demo",
    bugs: "https://example.com/issues",
    exports: { ".": {}, "./more": {}, "./package.json": "./package.json" },
    bin: { "virtkit-demo": "./bin/demo.js" },
  };
  const good = `# @virtkit/demo

Does one thing (v1.9.0). And another.

\`\`\`sh
npm install @virtkit/demo
\`\`\`

\`\`\`ts
console.log("hello");
\`\`\`

| entry point | what it does |
| --- | --- |
| \`virtkit-demo\` | the program |
| \`@virtkit/demo\` | the same as a function |
| \`/more\` | more |

| command | what it does |
| --- | --- |
| \`virtkit run\` | runs |

## Limits

It needs Linux.

## Links

[Guide](../../docs/guides/migrate.md), [deviations.md](deviations.md), [contributing](../../CONTRIBUTING.md),
[issues](https://example.com/issues).
`;
  const row = "| `/more` | more |\n";

  test("a README that has everything has no faults", () => {
    expect(readmeFaults(good, manifest, { deviates: true })).toEqual([]);
    expect(commandTableFaults(good, ["run"])).toEqual([]);
  });

  test.each([
    ["another title", "# @virtkit/demo", "# Demo", "the title is not @virtkit/demo"],
    ["a third sentence", "another.", "another. And more.", "the intro does not have one or two"],
    ["no intro", "Does one thing (v1.9.0). And another.", "", "the intro does not have one or two"],
    ["another package", "npm install @virtkit/demo", "npm install demo", "does not install"],
    ["an example that does not run", "```ts", "```ts no-run", "is not an example that runs"],
    ["no limits", "It needs Linux.\n", "", "there is no section Limits"],
    ["no word on how to contribute", "CONTRIBUTING.md", "x.md", "the links lack CONTRIBUTING.md"],
    ["other issues", "com/issues", "com/bugs", "the links lack the issues"],
    ["no document", "../../docs/", "../", "the links lack a document"],
    ["no deviations", "](deviations.md)", "](x.md)", "the links lack deviations.md"],
    ["a missing entry point", row, "", "the entry point /more is not in the table"],
    ["an unknown entry point", "`/more`", "`/moer`", "the table has /moer, which is not one"],
    ["two entry points in a line", "`/more`", "`/more`, `/x`", "the entry point /more is not in"],
    ["an entry point twice", row, `${row}${row}`, "the table has /more twice"],
    ["a missing program", "| `virtkit-demo` | the program |\n", "", "the entry point virtkit-demo"],
  ])("a README with %s is faulty", (_, text, planted, fault) => {
    const faults = readmeFaults(good.replace(text, planted), manifest, { deviates: true });
    expect(faults.join("\n")).toContain(fault);
  });

  test("a table of commands that lacks one, or has one that does not exist, is faulty", () => {
    expect(commandTableFaults(good, ["run", "stop"])).toEqual([
      "the command virtkit stop is not in the table",
    ]);
    expect(commandTableFaults(good, [])).toEqual([
      "the table has virtkit run, which is not one command of the package",
    ]);
  });
});
