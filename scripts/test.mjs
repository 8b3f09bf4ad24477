// `npm test`: install when needed, build (some tests start the real program), run the suite.
import { buildIfNeeded, installIfNeeded, runTool } from './toolchain.mjs';

installIfNeeded();
buildIfNeeded();
const given = process.argv.slice(2);
const project = given.includes('--project') ? [] : ['--project', 'suite'];
runTool('vitest/vitest.mjs', ['run', ...project, ...given]);
