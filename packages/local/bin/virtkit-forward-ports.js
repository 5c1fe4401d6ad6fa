#!/usr/bin/env node
import { main } from "../dist/forward-ports.js";

await main(process.argv[2] ?? "");
