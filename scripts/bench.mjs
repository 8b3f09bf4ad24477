// `node scripts/bench.mjs NAME [ARGUMENT...]` runs bench/NAME.ts. `node scripts/bench.mjs [--OPTION...]` compares the
// gateway with its peers (bench/compare/run.ts), and with `--guard` looks whether anything has become much more
// expensive (bench/compare/guard.ts).
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { compiledSources } from './compiled-sources.mjs';
import { buildIfNeeded, compileIfNeeded, installIfNeeded, root, run } from './toolchain.mjs';

const out = join(root, 'node_modules', '.signalbox-bench');
const [first, ...rest] = process.argv.slice(2);

if (first === '--guard' && rest.length > 0) {
  console.error(`bench: --guard takes nothing else (${rest.join(' ')})`);
  process.exit(2);
}
installIfNeeded();
if (first === undefined || first.startsWith('--')) await compare();
else if (parts().includes(first)) await runOne(first, rest);
else {
  console.error(
    `bench: there is no part ${first}; there are ${parts().join(', ')}. One scenario: --only SCENARIO`,
  );
  process.exit(2);
}

/** What can be run by itself. */
function parts() {
  const files = readdirSync(join(root, 'bench')).filter((file) => file.endsWith('.ts'));
  return files.map((file) => file.slice(0, -'.ts'.length));
}

async function runOne(name, args) {
  buildIfNeeded();
  compileIfNeeded();
  const { build } = await import('vite');
  await build({
    root,
    configFile: false,
    logLevel: 'error',
    plugins: [compiledSources],
    build: { ssr: join('bench', `${name}.ts`), outDir: out },
  });
  run(process.execPath, [join(out, `${name}.js`), ...args]);
}

async function compare() {
  buildIfNeeded();
  const { build } = await import('vite');
  const programs = ['run', 'guard', 'bare-proxy', 'upstream-fallback', 'load-fallback'];
  await build({
    root,
    configFile: false,
    logLevel: 'error',
    build: {
      ssr: true,
      outDir: out,
      emptyOutDir: true,
      rollupOptions: {
        input: {
          plan: join(root, 'bench', 'plan.ts'),
          ...Object.fromEntries(programs.map((name) => [name, join(root, 'bench', 'compare', `${name}.ts`)])),
        },
      },
    },
  });
  process.chdir(root);
  // In this process, so that an interrupt reaches the code that ends all started processes.
  await import(pathToFileURL(join(out, first === '--guard' ? 'guard.js' : 'run.js')).href);
}
