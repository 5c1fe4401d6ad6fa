import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

/** Milliseconds between two requests, and how long one may take. */
const pause = 10;
const patience = 400;

/**
 * Sends requests to a guest over TCP until it is stopped, each on a new connection, to find out for how long the guest did
 * not answer.
 * @param {number} port
 */
export function keepAsking(port) {
  /** @type {number[]} */
  const answers = [];
  const over = new AbortController();
  const asking = (async () => {
    while (!over.signal.aborted) {
      if (await answersNow(port)) answers.push(performance.now());
      await sleep(pause);
    }
  })();
  return {
    /** @returns {Promise<{ answers: number, longestMs: number, usualMs: number }>} */
    async stop() {
      over.abort();
      await asking;
      return summary(answers);
    },
  };
}

/**
 * The longest time between two answers, and the usual one.
 * @param {readonly number[]} answers when they came
 */
export function summary(answers) {
  const gaps = answers.slice(1).map((at, index) => at - (answers[index] ?? at));
  const sorted = gaps.toSorted((a, b) => a - b);
  return {
    answers: answers.length,
    longestMs: Math.round(sorted.at(-1) ?? 0),
    usualMs: Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0),
  };
}

/** @param {number} port @returns {Promise<boolean>} */
function answersNow(port) {
  return new Promise((resolve) => {
    const asked = request(
      { host: "127.0.0.1", port, agent: false, timeout: patience },
      (answer) => {
        answer.resume();
        answer.on("end", () => resolve(true)).on("error", () => resolve(false));
      },
    );
    asked.on("timeout", () => asked.destroy());
    asked.on("error", () => resolve(false));
    asked.end();
  });
}
