// `npm run dev`: compile on change and restart the server on what was compiled.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { compileIfNeeded, installIfNeeded, root } from './toolchain.mjs';

installIfNeeded();
compileIfNeeded();
const compiler = spawn(
  process.execPath,
  [
    join(root, 'node_modules/typescript/bin/tsc'),
    '-p',
    'tsconfig.build.json',
    '--watch',
    '--preserveWatchOutput',
  ],
  // A group of its own: the compiler is a launcher, and what it launches must end with it.
  { cwd: root, stdio: 'inherit', detached: true },
);
const server = spawn(
  process.execPath,
  ['--watch', '--watch-preserve-output', join(root, 'build/cli/signalbox.js'), ...process.argv.slice(2)],
  { cwd: root, stdio: 'inherit' },
);
const stop = (signal) => {
  stopCompiler(signal);
  server.kill(signal);
};
const stopCompiler = (signal) => {
  try {
    process.kill(-compiler.pid, signal);
  } catch {
    // It has ended already.
  }
};
process.on('SIGINT', () => stop('SIGINT'));
process.on('SIGTERM', () => stop('SIGTERM'));
compiler.on('exit', (code) => {
  server.kill();
  process.exitCode = code ?? 0;
});
server.on('exit', (code) => {
  stopCompiler('SIGTERM');
  process.exitCode = code ?? 0;
});
