#!/usr/bin/env node
import { main } from "../dist/local/forward-ports.js";

await main(process.argv[2] ?? "");
