import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { readYaml, type YamlReading } from './read-yaml.ts';

/** A text that takes longer is given up, milliseconds. */
const TIME_LIMIT_MS = 30_000;

/** A text that takes more memory is given up, megabytes. */
const MEMORY_LIMIT_MB = 1024;

const WORKER = `
const { parentPort, workerData } = require('node:worker_threads');
parentPort.postMessage((${readYaml})(require(workerData.library), workerData.text));
`;

/** The same as readYaml in a thread of its own: a megabyte takes a second, and no stream should wait for it. Never rejects. */
export function readYamlAside(text: string): Promise<YamlReading> {
  const library = createRequire(import.meta.url).resolve('yaml');
  return new Promise((resolve) => {
    const worker = new Worker(WORKER, {
      eval: true,
      workerData: { library, text },
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_LIMIT_MB },
    });
    const refuse = (reason: string) =>
      resolve({ ok: false, problems: [{ path: '', message: `the configuration ${reason}` }] });
    const timer = setTimeout(() => {
      refuse(`takes more than ${TIME_LIMIT_MS / 1000} seconds to read`);
      void worker.terminate();
    }, TIME_LIMIT_MS).unref();
    worker.once('message', resolve);
    worker.once('error', (error: NodeJS.ErrnoException) => {
      const isTooBig = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      refuse(isTooBig ? `takes more than ${MEMORY_LIMIT_MB} MB of memory to read` : 'could not be read');
    });
    worker.once('exit', () => {
      clearTimeout(timer);
      refuse('could not be read');
    });
    // The process may end while a file is being read.
    worker.unref();
  });
}
