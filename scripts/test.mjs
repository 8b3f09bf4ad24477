// `npm test`: install when needed, build (some tests start the real program, or parts of it), run the suite.
import { buildIfNeeded, compileIfNeeded, installIfNeeded, runTool } from './toolchain.mjs';

installIfNeeded();
buildIfNeeded();
compileIfNeeded();
// See vitest.config.ts.
process.env.SIGNALBOX_COMPILED = '1';
const given = process.argv.slice(2);
/** Folders with a command of their own, which a file named here may lie in, by the name of its project. */
const FOLDERS = {
  servers: 'test/adapters/servers',
  program: 'test/program/process',
  console: 'test/features/console',
};
const folder = Object.keys(FOLDERS).find((name) => given.some((word) => word.startsWith(FOLDERS[name])));
const project = given.includes('--project') ? [] : ['--project', folder ?? 'suite'];
const isWhole = given.length === 0;
if (isWhole) console.error('signalbox: the whole suite takes six to eight minutes on two idle cores');
const progress = isWhole ? ['--reporter', 'default', '--reporter', './scripts/test-progress.mjs'] : [];
/** One test of many thousands that lost a race for the processor does not fail CI: it is tried once more, and named. */
const retry =
  process.env.CI === undefined
    ? []
    : [
        '--retry',
        '1',
        ...(isWhole ? [] : ['--reporter', 'default']),
        '--reporter',
        './scripts/retried-tests.mjs',
      ];
runTool('vitest/vitest.mjs', ['run', ...project, ...progress, ...retry, ...given]);
