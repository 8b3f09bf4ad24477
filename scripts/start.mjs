// `npm start`: install and build when needed, then become the server. The server runs in this
// process, so signals reach it and its exit code is this program's.

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildIfNeeded, installIfNeeded, root } from './toolchain.mjs';

installIfNeeded();
buildIfNeeded();
await import(pathToFileURL(join(root, 'dist', 'cli', 'signalbox.js')).href);
