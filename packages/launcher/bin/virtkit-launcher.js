#!/usr/bin/env -S node --lite-mode --max-semi-space-size=1
// Before anything else is loaded: signals have no default action for PID 1, so an early one would
// be lost.
const ending = new AbortController();
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => ending.abort());
const { main } = await import("../dist/index.js");
process.exit(await main(process.argv.slice(2), ending.signal));
