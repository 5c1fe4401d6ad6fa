/** @template T @typedef {import("./benchmark.mjs").Contender<T>} Contender */
/** @typedef {import("./benchmark.mjs").Benchmark} Benchmark */

/** Fewer rounds say nothing about the spread. */
const rounds = 9;
/** This many if they take only a few seconds: the more there are, the more are undisturbed. */
const maxRounds = 25;
const maxRoundsMicroseconds = 3_000_000;
/** A round runs at least this long, so that the clock's grain does not count. */
const roundMicroseconds = 20_000;
/** Ends a round whose clock does not move. */
const maxParts = 1_000_000;
/** Rounds of a warm-up that are judged together, so that one disturbed round does not count. */
const windowRounds = 8;
/** A window that is faster by less than this share of the best one is not progress. */
const progress = 0.03;
/** This many windows in a row without progress end the warm-up. */
const steadyWindows = 5;
/** Ends a warm-up that never becomes steady, or takes long. */
const maxWarmUpMicroseconds = 5_000_000;
/** Apart from the numbers of the measured rounds, so that inputs stay different. */
const firstWarmUpRound = 1_000;

/**
 * @typedef {object} Measurement
 * @property {number} subject microseconds per operation, median over the rounds
 * @property {number} best the same in the fastest round
 * @property {number} cold the same in the first round, before the engine has compiled anything
 * @property {number} calibrated the same, in units of the calibration job
 * @property {number} [ratio] baseline time / subject time, median over the rounds
 * @property {[number, number]} [spread] the quartiles of that ratio
 * @property {number} [bytes] allocated per operation
 */

/**
 * Runs subject, baseline and calibration interleaved (ABBA, so that drift hits both sides alike)
 * and returns the medians. All of them are warmed up first: what is measured is a process that has
 * been doing this for a while. The engine discards compiled code of a function that is not
 * called for a long time, so one warm-up for several benchmarks would not be enough.
 * @param {Benchmark} benchmark
 * @param {() => number} [now] a clock in microseconds
 * @returns {Promise<Measurement>}
 */
export async function measure(
  { subject, baseline, clock = "cpu", allocations = false },
  now = clock === "cpu" ? cpuMicroseconds : wallMicroseconds,
) {
  /** @type {number[]} */
  const subjects = [];
  /** @type {number[]} */
  const calibrations = [];
  /** @type {number[]} */
  const ratios = [];
  let best = Number.POSITIVE_INFINITY;
  const cold = await timed(subject, 0, now);
  await warmUp(calibrationJob, now);
  if (baseline) await warmUp(baseline, now);
  await warmUp(subject, now);
  const end = now() + maxRoundsMicroseconds;
  for (let round = 1; round <= rounds || (round <= maxRounds && now() < end); round++) {
    const calibration = await timed(calibrationJob, round, now);
    const first = await timed(subject, round, now);
    const before = baseline && (await timed(baseline, round, now));
    const after = baseline && (await timed(baseline, -round, now));
    const last = await timed(subject, -round, now);
    const mean = (first + last) / 2;
    best = Math.min(best, first, last);
    subjects.push(mean);
    calibrations.push(mean / calibration);
    if (before !== undefined && after !== undefined) ratios.push((before + after) / 2 / mean);
  }
  return {
    subject: quantile(subjects, 0.5),
    best,
    cold,
    calibrated: quantile(calibrations, 0.5),
    ...(baseline && { ratio: quantile(ratios, 0.5) }),
    ...(baseline && { spread: [quantile(ratios, 0.25), quantile(ratios, 0.75)] }),
    ...(allocations && { bytes: await bytesPerOperation(subject) }),
  };
}

/**
 * Runs rounds until they do not get faster.
 * @template Input
 * @param {Contender<Input>} contender
 * @param {() => number} now
 */
async function warmUp(contender, now) {
  const end = now() + maxWarmUpMicroseconds;
  let best = Number.POSITIVE_INFINITY;
  let round = firstWarmUpRound;
  for (let steady = 0; steady < steadyWindows; ) {
    let fastest = Number.POSITIVE_INFINITY;
    for (let part = 0; part < windowRounds; part++) {
      if (now() >= end) return;
      fastest = Math.min(fastest, await timed(contender, round++, now));
    }
    steady = fastest < best * (1 - progress) ? 0 : steady + 1;
    best = Math.min(best, fastest);
  }
}

/**
 * Microseconds per operation in one round.
 * @template Input
 * @param {Contender<Input>} contender
 * @param {number} round
 * @param {() => number} now
 */
async function timed({ prepare, run }, round, now) {
  let operations = 0;
  let spent = 0;
  for (let part = 0; spent < roundMicroseconds && part < maxParts; part++) {
    const input = await prepare(round * 1_000_000 + part);
    const start = now();
    operations += await run(input);
    spent += now() - start;
  }
  return spent / operations;
}

/** @template Input @param {Contender<Input>} contender */
async function bytesPerOperation({ prepare, run }) {
  const collect = globalThis.gc;
  if (!collect) throw new Error("bytes can only be counted with: node --expose-gc");
  const samples = [];
  for (let round = 0; round < rounds; round++) {
    const input = await prepare(round);
    collect();
    const before = process.memoryUsage().heapUsed;
    const operations = await run(input);
    const grown = process.memoryUsage().heapUsed - before;
    // A garbage collection in between makes the figure too small: such a round is dropped.
    if (grown > 0) samples.push(grown / operations);
  }
  return samples.length > 0 ? quantile(samples, 0.5) : Number.NaN;
}

/** A fixed mix of what such code does: maps, strings, sorting, JSON. @type {Contender<number[]>} */
const calibrationJob = {
  name: "calibration",
  prepare: (round) => Array.from({ length: 200 }, (_, index) => (index * 7919 + round) % 1009),
  run: (numbers) => {
    const counts = new Map();
    for (const number of numbers) counts.set(`n${number}`, (counts.get(`n${number}`) ?? 0) + 1);
    const sorted = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
    return JSON.parse(JSON.stringify(sorted)).length > 0 ? 1 : 0;
  },
};

function cpuMicroseconds() {
  const { user, system } = process.cpuUsage();
  return user + system;
}

function wallMicroseconds() {
  return Number(process.hrtime.bigint()) / 1000;
}

/** @param {number[]} values @param {number} q */
function quantile(values, q) {
  const sorted = [...values].sort((a, b) => a - b);
  const position = (sorted.length - 1) * q;
  const below = sorted[Math.floor(position)] ?? Number.NaN;
  const above = sorted[Math.ceil(position)] ?? Number.NaN;
  return below + (above - below) * (position - Math.floor(position));
}
