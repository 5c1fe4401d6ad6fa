/**
 * One side of a comparison.
 * @template Input
 * @typedef {object} Contender
 * @property {string} name
 * @property {(round: number) => Input | Promise<Input>} prepare creates an input for one round; not
 *   timed; a new one each time, so that no cache across rounds can win
 * @property {(input: Input) => number | Promise<number>} run does the work and returns how many
 *   operations it was
 */

/**
 * A benchmark file `packages/NAME/bench/*.bench.mjs` exports `benchmarks`: an array of these. It
 * imports the built packages by name, as a user would.
 * @template [Input=any]
 * @template [BaselineInput=any]
 * @typedef {object} Benchmark
 * @property {string} name
 * @property {Contender<Input>} subject
 * @property {Contender<BaselineInput>} [baseline] run in the same process, interleaved
 * @property {{ name: string, microseconds: number, calibrations?: number }} [reference] a recorded
 *   figure of something that cannot be run here, from an idle host of this kind;
 *   measured in units of the calibration job, alternating with it, the ratio also holds on a busy host
 * @property {string} [goal] what the figures are meant to show, printed beside them
 * @property {"cpu" | "wall"} [clock] "wall" if another process does the work; default "cpu"
 * @property {boolean} [allocations] print bytes allocated per operation too
 * @property {() => boolean | string | Promise<boolean | string>} [available] a string says why it cannot run
 * @property {() => void | Promise<void>} [close] runs after the last round, also after an error
 */

/**
 * A benchmark that is not the time of an operation: it reports its own figures, with what they are compared to.
 * @typedef {object} Figures
 * @property {string} name
 * @property {() => Promise<string>} figures
 * @property {() => boolean | string | Promise<boolean | string>} [available] as in {@link Benchmark}
 */

export {};
