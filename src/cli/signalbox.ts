#!/usr/bin/env node
import { run } from './run.ts';

// A reader that has seen enough, such as `head`, closes the pipe: no reason to crash.
process.stdout.on('error', () => {});

// Whatever is written is nobody else's business, also what libraries write.
process.umask(0o077);

const exitCode = await run(process.argv.slice(2), {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
});
if (exitCode !== undefined) process.exitCode = exitCode;
