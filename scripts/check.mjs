// `npm run check`: formatting, lint and types.
import { installIfNeeded, runTool } from './toolchain.mjs';

installIfNeeded();
runTool('@biomejs/biome/bin/biome', ['check', '--error-on-warnings', ...process.argv.slice(2)]);
runTool('typescript/bin/tsc', ['-p', 'tsconfig.json']);
runTool('typescript/bin/tsc', ['-p', 'console/tsconfig.json']);
