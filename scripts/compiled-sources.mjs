// A plugin of vite: modules of `src` are imported from `build`, where `compileIfNeeded` puts them. Node runs them as they
// are, their threads included, while vite would transform each of them and put a getter in front of every import.
import { dirname, join, relative, resolve } from 'node:path';
import { root } from './toolchain.mjs';

const SOURCES = join(root, 'src/');

export const compiledSources = {
  name: 'compiled-sources',
  enforce: 'pre',
  resolveId(id, importer) {
    if (importer === undefined || !id.startsWith('.') || !id.endsWith('.ts')) return undefined;
    const file = resolve(dirname(importer), id);
    if (!file.startsWith(SOURCES)) return undefined;
    return { id: join(root, 'build', relative(SOURCES, file).replace(/\.ts$/, '.js')), external: 'absolute' };
  },
};
