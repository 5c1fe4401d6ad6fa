import { afterAll } from "vitest";
import { RecordedCalls } from "./recorded-calls.mjs";

/**
 * The API server in the process is as good as the checks that it shares with a real one. So each verb, option and error
 * that a test meets on it must be met by one of those checks; a test file that meets another one fails.
 */
// This module is loaded anew for each test file, in processes that run many.
const calls = new RecordedCalls();

afterAll(() => calls.end());
