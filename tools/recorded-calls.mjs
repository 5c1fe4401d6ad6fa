import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { readFileSync } from "node:fs";

const folder = "packages/testing/src/api-server/testing";
const file = new URL(`../${folder}/checked-calls.txt`, import.meta.url);

/** The verbs, options and errors that are used on API servers in this process, from now on. */
export class RecordedCalls {
  #channel;
  /** @type {Set<string>} */
  #calls = new Set();
  /** @param {unknown} features */
  #listen = (features) => {
    for (const feature of /** @type {readonly string[]} */ (features)) this.#calls.add(feature);
  };

  /** @param {string} channel where such servers report their requests */
  constructor(channel = "virtkit:testing:calls") {
    this.#channel = channel;
    subscribe(channel, this.#listen);
  }

  /** Stops, and throws if a call was made that no check covers. The checks are those that a real server also passes. */
  end() {
    unsubscribe(this.#channel, this.#listen);
    const checked = new Set(readFileSync(file, "utf8").split("\n"));
    const unchecked = [...this.#calls].filter((call) => !checked.has(call)).toSorted();
    if (unchecked.length === 0) return;
    const list = unchecked.join("; ");
    throw new Error(
      `no check that a real API server also passes covers these calls: ${list}. Add checks to ${folder}`,
    );
  }
}
