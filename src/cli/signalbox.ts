#!/usr/bin/env node
import { run } from './run.ts';

// A reader such as `head` may close the pipe early; that is not an error.
process.stdout.on('error', () => {});

// Files are private to the user, also those that libraries create.
process.umask(0o077);

const exitCode = await run(process.argv.slice(2), {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
});
if (exitCode !== undefined) process.exitCode = exitCode;
