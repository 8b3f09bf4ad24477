// Writes the program as it ships into `dist`, in few files: most of the time until it is ready would otherwise go into
// loading 1,700 small ones.
import { chmodSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { bundledLicences } from './bundled-licences.mjs';
import { INSTALLED } from './installed-packages.mjs';

/** Programs of threads and of processes: started by file, from a module that lies beside them. */
const STARTED = readdirSync('src', { recursive: true })
  .filter((name) => name.endsWith('-main.ts'))
  .map((name) => join('src', name));

const program = await rolldown({
  // The second is what a gateway with several workers starts for each of them.
  input: ['src/cli/signalbox.ts', 'src/cli/worker.ts', ...STARTED],
  platform: 'node',
  external: INSTALLED,
  transform: { target: 'node20' },
  plugins: [bundledLicences()],
});
/** The folder of `src`, or the package, that most modules of a chunk are from. */
function partOf({ moduleIds }) {
  const counts = new Map();
  for (const id of moduleIds) {
    const [, of] = /\/(?:node_modules\/(?:@[^/]+\/)?|src\/)([^/]+)\/(?!.*\/node_modules\/)/.exec(id) ?? [];
    if (of !== undefined) counts.set(of, (counts.get(of) ?? 0) + 1);
  }
  return [...counts].reduce((most, each) => (each[1] > most[1] ? each : most), ['start', 0])[0];
}

await program.write({
  dir: 'dist',
  // As deep as modules lie in src: some find the package's manifest and the shipped catalogue from where they are.
  entryFileNames: 'cli/[name].js',
  // A command that is loaded when it is given has the name of its file, what several share that of its part.
  chunkFileNames: (chunk) => (chunk.isDynamicEntry ? 'cli/[name].js' : `cli/part-${partOf(chunk)}.js`),
  sourcemap: true,
});
// It is the package's command: npm makes it one when it is installed, not when it is built again.
chmodSync('dist/cli/signalbox.js', 0o755);
