// Releases of Node other than the one that is installed: packages of the registry, one for each platform.
import { join } from 'node:path';

const PLATFORM = { linux: 'linux', darwin: 'darwin', win32: 'win' }[process.platform];

/** The package that holds Node for this machine, in a release of every version of it. */
export const NODE_PACKAGE = `node-${PLATFORM}-${process.arch}`;

/** The program, where that package was installed into a folder. */
export function nodeIn(folder) {
  return join(
    folder,
    'node_modules',
    NODE_PACKAGE,
    'bin',
    process.platform === 'win32' ? 'node.exe' : 'node',
  );
}
