import { afterAll } from "vitest";
import { RecordedCalls } from "./recorded-calls.mjs";

/**
 * The in-process API server is as good as the checks that it shares with a real one. So each verb, option
 * and error that a test uses on it must be covered by one of those checks; a test file that uses another one
 * fails.
 */
// This module is loaded again for each test file, in processes that run many.
const calls = new RecordedCalls();

afterAll(() => calls.end());
