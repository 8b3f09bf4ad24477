// `npm run package [-- FOLDER]`: writes the package that ships into the folder, and prints its file. Its manifest lists only what is installed beside
// the program: what the program is bundled of stands under `dependencies` of the repository's own manifest.
//
//   --manifest   prints that manifest instead
//   --refuse     for `npm pack` and `npm publish` in the repository, which would ship the repository's manifest
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { INSTALLED } from './installed-packages.mjs';

/** Members of the repository's manifest that ship as they are. */
const SHIPPED = [
  'name',
  'version',
  'description',
  'license',
  'repository',
  'type',
  'engines',
  'bin',
  'files',
];

const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
const shipped = {
  ...Object.fromEntries(SHIPPED.map((member) => [member, manifest[member]])),
  dependencies: Object.fromEntries(INSTALLED.map((name) => [name, manifest.dependencies[name]])),
};
const text = `${JSON.stringify(shipped, null, 2)}\n`;

if (process.argv.includes('--manifest')) {
  process.stdout.write(text);
} else if (process.argv.includes('--refuse')) {
  console.error('signalbox: `npm run package` writes the package; publish the file that it prints');
  process.exitCode = 1;
} else {
  await import('./build.mjs');
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-package-'));
  try {
    for (const name of manifest.files) cpSync(name, join(folder, name), { recursive: true });
    writeFileSync(join(folder, 'package.json'), text);
    const into = process.argv[2] ?? '.';
    const { status } = spawnSync(
      'npm',
      ['pack', folder, '--ignore-scripts', '--silent', '--pack-destination', into],
      {
        stdio: 'inherit',
        shell: process.platform === 'win32',
      },
    );
    process.exitCode = status ?? 1;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
