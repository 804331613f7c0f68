#!/usr/bin/env node
// In git, unlike dist, so that npm links the command before anything is built.
await import("../dist/main.js");
