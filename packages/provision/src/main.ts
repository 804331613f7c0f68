#!/usr/bin/env node
import { processHost } from "@tenure/runtime";
import { runProvision } from "./command-line.ts";

process.exitCode = await runProvision(processHost());
