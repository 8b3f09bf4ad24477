// `npm run check`: formatting, lint and types.
import { installIfNeeded, runTool } from './toolchain.mjs';

installIfNeeded();
runTool('@biomejs/biome/bin/biome', ['check', '--error-on-warnings', ...process.argv.slice(2)]);
checkTypes('tsconfig.json', 'gateway');
checkTypes('console/tsconfig.json', 'console');

/** What was found is kept for the next check, which looks only at what has changed since. */
function checkTypes(project, name) {
  const kept = `node_modules/.cache/types-${name}.tsbuildinfo`;
  runTool('typescript/bin/tsc', ['-p', project, '--incremental', '--tsBuildInfoFile', kept]);
}
