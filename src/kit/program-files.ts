import { fileURLToPath } from 'node:url';

/** Where the build puts the console. Modules of `src/kit`, of `build/kit` and of the bundle lie equally deep. */
export const CONSOLE_FOLDER = fileURLToPath(new URL('../../dist/console', import.meta.url));

/** The module that a serving process runs. Only a built program has it. */
export const WORKER_MODULE = fileURLToPath(new URL('../cli/worker.js', import.meta.url));
