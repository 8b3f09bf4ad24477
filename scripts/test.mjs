// `npm test`: install when needed, build (some tests start the real program, or parts of it), run the suite.
import { buildIfNeeded, compileIfNeeded, installIfNeeded, runTool } from './toolchain.mjs';

installIfNeeded();
buildIfNeeded();
compileIfNeeded();
// See vitest.config.ts.
process.env.SIGNALBOX_COMPILED = '1';
const given = process.argv.slice(2);
const isOfProgram = given.some((word) => word.startsWith('test/program'));
const project = given.includes('--project') ? [] : ['--project', isOfProgram ? 'program' : 'suite'];
const isWhole = given.length === 0;
if (isWhole) console.error('signalbox: the whole suite takes about nine minutes on two cores');
const progress = isWhole ? ['--reporter', 'default', '--reporter', './scripts/test-progress.mjs'] : [];
runTool('vitest/vitest.mjs', ['run', ...project, ...progress, ...given]);
