// `node scripts/console-pictures.mjs [VIEW...]`: pictures of every view of the console, or of some, such as `models`,
// for docs/images. They show a gateway with a history of its own. With `--open` it takes none and leaves that gateway
// open for a look.
import { join } from 'node:path';
import { buildIfNeeded, installIfNeeded, root, run, runTool } from './toolchain.mjs';

const out = join(root, 'node_modules', '.signalbox-pictures');
const program = 'test/features/console/pictures/take-pictures.ts';

installIfNeeded();
buildIfNeeded();
runTool('vite/bin/vite.js', ['build', '--ssr', program, '--outDir', out, '--logLevel', 'error']);
run(process.execPath, [join(out, 'take-pictures.js'), ...process.argv.slice(2)]);
