import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { runCommand } from "./run-command.mjs";

/** @typedef {import("./code-examples.mjs").CodeExample} CodeExample */

const compilerOptions = {
  target: "es2023",
  lib: ["es2023", "esnext.disposable"],
  // A value that an example gets from its surroundings has no type; nor have the parameters that follow from it.
  noImplicitAny: false,
  module: "nodenext",
  strict: true,
  skipLibCheck: true,
  rootDir: "examples",
  outDir: "compiled",
  types: ["node"],
};

/**
 * Compiles examples in a project that has the packages installed. An example in a doc comment need not
 * import what its own package exports, nor the classes of the others. Anything else that it does not declare, such
 * as `client` or `vmi`, comes from its surroundings and may be anything.
 * @param {string} root of the workspace, for the compiler
 * @param {string} project
 * @param {CodeExample[]} examples
 * @returns {Promise<{ ok: boolean, output: string, files: string[] }>} files: the compiled ones, in the order of the examples
 */
export async function compileExamples(root, project, examples) {
  const folder = path.join(project, "examples");
  await mkdir(folder, { recursive: true });
  const typeRoots = [path.join(root, "node_modules/@types")];
  const tsconfig = { compilerOptions: { ...compilerOptions, typeRoots }, include: ["examples"] };
  await writeFile(path.join(project, "tsconfig.json"), JSON.stringify(tsconfig));
  for (const [index, { code }] of examples.entries()) {
    await writeFile(path.join(folder, fileName(index)), moduleOf(code, []));
  }
  const first = await compile(root, project);
  const missing = missingNames(first.output);
  for (const [index, names] of missing) {
    const example = examples[index];
    if (example?.own === undefined) continue;
    const declarations = await declarationsOf(project, example.own, names);
    await writeFile(path.join(folder, fileName(index)), moduleOf(example.code, declarations));
  }
  const { code, output } = missing.size > 0 ? await compile(root, project) : first;
  const files = examples.map((_, index) => `compiled/${fileName(index).replace(".ts", ".js")}`);
  return { ok: code === 0, output: withPlaces(output, examples), files };
}

/** @param {number} index */
function fileName(index) {
  return `example-${index}.ts`;
}

/** @param {string} code @param {readonly string[]} declarations */
function moduleOf(code, declarations) {
  return `${declarations.join("")}${code}\nexport {};\n`;
}

/** @param {string} root @param {string} project */
function compile(root, project) {
  return runCommand(path.join(root, "node_modules/.bin/tsc"), ["-p", ".", "--pretty", "false"], {
    cwd: project,
  });
}

/** The names that each example uses without declaring them. @param {string} output */
function missingNames(output) {
  /** @type {Map<number, Set<string>>} */
  const missing = new Map();
  const pattern = /example-(\d+)\.ts\(.*?error TS(?:2304|2552|18004|2503): .*?'([\w$]+)'/g;
  for (const [, index, name = ""] of output.matchAll(pattern)) {
    const names = missing.get(Number(index)) ?? new Set();
    missing.set(Number(index), names.add(name));
  }
  return missing;
}

/** @param {string} project @param {string} own @param {Iterable<string>} names */
async function declarationsOf(project, own, names) {
  const known = await installedExports(project);
  return [...names].map((name) => {
    const isClass = /^[A-Z]/.test(name);
    const order = isClass ? [own, ...known.keys()] : [own];
    const entry = order.map((each) => known.get(each)?.get(name)).find((found) => found);
    if (entry) return `import { ${name} } from "${entry}";\n`;
    return isClass ? "" : `declare const ${name}: any;\n`;
  });
}

/** @type {Map<string, Promise<Map<string, Map<string, string>>>>} */
const exportsOfProjects = new Map();

/** What the packages in a project export: by package and name, the entry point. @param {string} project */
function installedExports(project) {
  const found = exportsOfProjects.get(project) ?? readExports(project);
  exportsOfProjects.set(project, found);
  return found;
}

/** Reads modules from stdin and prints what each of them exports, both as JSON. */
const lister = `
let input = "";
for await (const chunk of process.stdin) input += chunk;
const found = {};
for (const [name, url] of JSON.parse(input)) found[name] = Object.keys(await import(url));
process.stdout.write(JSON.stringify(found), () => process.exit());
`;

/** @param {string} project */
async function readExports(project) {
  const scope = path.join(project, "node_modules/@virtkit");
  /** @type {[string, string][]} */
  const modules = [];
  const known = new Map();
  for (const folder of await readdir(scope)) {
    known.set(`@virtkit/${folder}`, new Map());
    const manifest = JSON.parse(await readFile(path.join(scope, folder, "package.json"), "utf8"));
    for (const [entry, target] of Object.entries(manifest.exports)) {
      if (typeof target === "string") continue;
      const { href } = pathToFileURL(path.join(scope, folder, target.default));
      modules.push([`@virtkit/${folder}${entry.slice(1)}`, href]);
    }
  }
  // In a separate process: the one of the tests resolves packages to their sources.
  const args = ["--input-type=module", "-e", lister];
  const input = JSON.stringify(modules);
  const { stdout } = await runCommand(process.execPath, args, { cwd: project, input });
  for (const [entry, names] of Object.entries(JSON.parse(stdout))) {
    const own = known.get(entry.split("/").slice(0, 2).join("/"));
    for (const name of names) if (!own.has(name)) own.set(name, entry);
  }
  return known;
}

/** The compiler's messages with the places of the examples. @param {string} output @param {CodeExample[]} examples */
function withPlaces(output, examples) {
  return output.replaceAll(
    /(?:\S*\/)?example-(\d+)\.ts\((\d+),\d+\)/g,
    (_, index, line) => `${examples[Number(index)]?.where} (line ${line} of the example)`,
  );
}
