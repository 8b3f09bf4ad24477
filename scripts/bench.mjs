// `node scripts/bench.mjs NAME`: runs bench/NAME.ts.
import { join } from 'node:path';
import { installIfNeeded, root, run, runTool } from './toolchain.mjs';

const [name, ...args] = process.argv.slice(2);
if (name === undefined || !/^[a-z][a-z-]*$/.test(name)) {
  console.error('usage: node scripts/bench.mjs NAME [ARGUMENT...], where bench/NAME.ts is what to run');
  process.exit(2);
}
installIfNeeded();
const out = join(root, 'node_modules', '.signalbox-bench');
runTool('vite/bin/vite.js', ['build', '--ssr', `bench/${name}.ts`, '--outDir', out, '--logLevel', 'error']);
run(process.execPath, [join(out, `${name}.js`), ...args]);
