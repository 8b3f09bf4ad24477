// `npm test`: install when needed, build (some tests start the real program, or parts of it), run the suite.
import { buildIfNeeded, compileIfNeeded, installIfNeeded, runTool } from './toolchain.mjs';

installIfNeeded();
buildIfNeeded();
compileIfNeeded();
const given = process.argv.slice(2);
const project = given.includes('--project') ? [] : ['--project', 'suite'];
runTool('vitest/vitest.mjs', ['run', ...project, ...given]);
