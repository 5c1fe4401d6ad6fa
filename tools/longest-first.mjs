import path from "node:path";
import { BaseSequencer } from "vitest/node";
import { long } from "./host-files.mjs";
import { operatorFiles } from "./nodes/operator-files.mjs";

/**
 * Starts the longest files of a tier first: by their last duration if it is known, otherwise by a list. Files that
 * share something with each other come last, in their own order.
 */
export class LongestFirst extends BaseSequencer {
  /** @override @param {import("vitest/node").TestSpecification[]} files */
  async sort(files) {
    const place = (/** @type {import("vitest/node").TestSpecification} */ { moduleId }) =>
      operatorFiles.indexOf(this.#relative(moduleId));
    const sorted = await this.#longestFirst(files);
    const sharing = sorted.filter((file) => place(file) >= 0);
    return [
      ...sorted.filter((file) => place(file) < 0),
      ...sharing.toSorted((a, b) => place(a) - place(b)),
    ];
  }

  /** @param {import("vitest/node").TestSpecification[]} files */
  async #longestFirst(files) {
    const sorted = await super.sort(files);
    const isKnown = sorted.every(({ project, moduleId }) =>
      this.ctx.cache.getFileTestResults(`${project.name}:${this.#relative(moduleId)}`),
    );
    if (isKnown) return sorted;
    const isLong = (/** @type {import("vitest/node").TestSpecification} */ { moduleId }) =>
      long.includes(this.#relative(moduleId));
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }

  /** @param {string} moduleId */
  #relative(moduleId) {
    return path.relative(this.ctx.config.root, moduleId);
  }
}
