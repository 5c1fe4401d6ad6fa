/**
 * Runs examples one after the other in one process: `node run-examples.mjs WHERE=FILE...`. Each must end and
 * print something. One process runs all of them, because starting a process for each would take longer than the examples.
 */
import { pathToFileURL } from "node:url";

/** An example that takes longer hangs. */
const mostMilliseconds = 60_000;

let printed = 0;
const write = process.stdout.write.bind(process.stdout);
process.stdout.write = count;
process.stderr.write = count;

function count() {
  printed++;
  return true;
}

for (const argument of process.argv.slice(2)) {
  const split = argument.lastIndexOf("=");
  const where = argument.slice(0, split);
  printed = 0;
  try {
    await within(import(pathToFileURL(argument.slice(split + 1)).href));
  } catch (error) {
    write(`${where}: ${error instanceof Error ? error.stack : error}\n`);
    process.exitCode = 1;
  }
  if (printed === 0) {
    write(`${where}: the example printed nothing\n`);
    process.exitCode = 1;
  }
}
process.exit();

/** @param {Promise<unknown>} running */
function within(running) {
  const late = new Promise((_, reject) => {
    setTimeout(() => reject(new Error("the example did not end")), mostMilliseconds).unref();
  });
  return Promise.race([running, late]);
}
