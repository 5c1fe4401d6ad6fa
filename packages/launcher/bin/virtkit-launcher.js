#!/usr/bin/env -S node --max-semi-space-size=1
import { main } from "../dist/index.js";

process.exit(await main(process.argv.slice(2)));
