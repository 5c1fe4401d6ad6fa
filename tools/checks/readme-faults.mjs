/**
 * What a package's manifest says that its README has to agree with.
 * @typedef {object} Manifest
 * @property {string} name
 * @property {string} bugs
 * @property {Record<string, unknown>} exports
 * @property {Record<string, string>} [bin]
 */

/**
 * What is missing or wrong in the README of a published package: two sentences on what it is, how to install it, a first
 * example that runs as it stands, one line for each entry point, limits, and links.
 * @param {string} readme
 * @param {Manifest} manifest
 * @param {{ deviates: boolean }} facts whether the package has a deviations.md
 * @returns {string[]}
 */
export function readmeFaults(readme, manifest, { deviates }) {
  const { name } = manifest;
  const [install, example] = fences(readme);
  const intro = readme.slice(0, install?.at).replace(/^#.*$/m, "");
  const links = sectionOf(readme, "Links");
  const found = {
    [`the title is not ${name}`]: !readme.startsWith(`# ${name}\n`),
    "the intro does not have one or two sentences": ![1, 2].includes(sentences(intro)),
    "the first block does not install the package":
      install?.language !== "sh" ||
      !new RegExp(`^npm install (-.* )?${name}$`, "m").test(install.code),
    "the second block is not an example that runs as it stands":
      example === undefined || !["ts", "js", "console"].includes(example.language),
    "there is no section Limits": sectionOf(readme, "Limits").trim() === "",
    "the links lack CONTRIBUTING.md": !links.includes("](../../CONTRIBUTING.md)"),
    "the links lack the issues": !links.includes(`](${manifest.bugs})`),
    "the links lack a document": !links.includes("](../../docs/"),
    "the links lack deviations.md": deviates && !links.includes("](deviations.md)"),
  };
  return [
    ...Object.keys(found).filter((fault) => found[fault]),
    ...entryPointFaults(readme, manifest),
  ];
}

/** How the table of commands differs from the commands that there are. @param {string} readme @param {readonly string[]} commands */
export function commandTableFaults(readme, commands) {
  const listed = firstCells(readme, "command").map((cell) => cell.replaceAll("`", ""));
  const existing = commands.map((command) => `virtkit ${command}`);
  return differences("command", listed, existing);
}

/** @param {string} readme @param {Manifest} manifest */
function entryPointFaults(readme, { name, exports, bin }) {
  const cells = firstCells(readme, "entry point").map((cell) => cell.replace(/^`(.*)`$/, "$1"));
  const listed = cells.map((cell) => (cell === "." ? name : cell));
  const existing = Object.keys(exports)
    .filter((subpath) => subpath !== "./package.json")
    .map((subpath) => (subpath === "." ? name : subpath.slice(1)));
  return differences("entry point", listed, [...existing, ...Object.keys(bin ?? {})]);
}

/** @param {string} what @param {string[]} listed @param {string[]} existing */
function differences(what, listed, existing) {
  return [
    ...existing
      .filter((one) => !listed.includes(one))
      .map((one) => `the ${what} ${one} is not in the table`),
    ...listed
      .filter((one) => !existing.includes(one))
      .map((one) => `the table has ${one}, which is not one ${what} of the package`),
    ...listed
      .filter((one, index) => listed.indexOf(one) !== index)
      .map((one) => `the table has ${one} twice`),
  ];
}

/** The first cell of each row of the tables that begin with a heading. @param {string} text @param {string} heading */
function firstCells(text, heading) {
  const lines = text.split("\n");
  const cells = [];
  for (const [index, line] of lines.entries()) {
    if (cellsOf(line)[0] !== heading) continue;
    for (let row = index + 2; lines[row]?.startsWith("|"); row += 1) {
      cells.push(cellsOf(lines[row] ?? "")[0] ?? "");
    }
  }
  return cells;
}

/** @param {string} line */
function cellsOf(line) {
  const cells = line.split("|").slice(1, -1);
  return cells.map((cell) => cell.trim());
}

/** The text below a heading of the second level. @param {string} text @param {string} heading */
function sectionOf(text, heading) {
  const [, after = ""] = text.split(new RegExp(`^## ${heading}$`, "m"));
  return after.split(/^## /m)[0] ?? "";
}

/** The blocks of code, in order. A language with a mark, such as `ts no-run`, is not the language. @param {string} text */
function fences(text) {
  return [...text.matchAll(/^```([^\n]*)\n(.*?)^```$/gms)].map((match) => ({
    at: match.index,
    language: match[1] ?? "",
    code: match[2] ?? "",
  }));
}

/** @param {string} text */
function sentences(text) {
  return [...text.matchAll(/[.!?](?=\s|$)/g)].length;
}
