// `npm test`: install when needed, build (some tests start the real program, or parts of it), run the suite.
import { buildIfNeeded, compileIfNeeded, installIfNeeded, runTool } from './toolchain.mjs';

installIfNeeded();
buildIfNeeded();
compileIfNeeded();
// See vitest.config.ts.
process.env.SIGNALBOX_COMPILED = '1';
const given = process.argv.slice(2);
const project = given.includes('--project') ? [] : ['--project', 'suite'];
const isWhole = given.length === 0;
if (isWhole) console.error('signalbox: the whole suite takes six to seven minutes on two cores');
const progress = isWhole ? ['--reporter', 'default', '--reporter', './scripts/test-progress.mjs'] : [];
runTool('vitest/vitest.mjs', ['run', ...project, ...progress, ...given]);
