// `npm run test:nodes`: the suite under the newer Nodes that the gateway runs on. They come from the registry into a
// scratch folder. What follows is given to the tests: `npm run test:nodes -- test/adapters/contracts`.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NODE_PACKAGE, nodeIn } from './other-node.mjs';
import { buildIfNeeded, compileIfNeeded, installIfNeeded, root, run } from './toolchain.mjs';

const MAJORS = [22, 24];

installIfNeeded();
buildIfNeeded();
compileIfNeeded();
const scratch = mkdtempSync(join(tmpdir(), 'signalbox-nodes-'));
// A failed run exits on the spot.
process.once('exit', () => rmSync(scratch, { recursive: true, force: true }));

for (const major of MAJORS) {
  const folder = join(scratch, String(major));
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'node', private: true }));
  run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', `${NODE_PACKAGE}@${major}`], {
    cwd: folder,
  });
  const node = nodeIn(folder);
  run(node, ['--version']);
  run(node, [
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--project',
    'suite',
    '--project',
    'servers',
    '--project',
    'program',
    ...process.argv.slice(2),
  ]);
}
