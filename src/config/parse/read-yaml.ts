import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import type { Issue } from '../../kit/json/validate.ts';

/** The value that a YAML text holds, or everything that is wrong with the text. */
export type YamlReading =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problems: readonly Issue[] };

/** The YAML library, as a value that can be handed over. */
export type YamlLibrary = typeof import('yaml');

/**
 * Reads YAML 1.2 without tags, in time linear in the text. No problem quotes the text, because any of it may be secret.
 * Uses nothing from outside of itself: the thread that reads aside gets its source text.
 */
export function readYaml(yaml: YamlLibrary, text: string): YamlReading {
  /** Aliases (`*name`) that a file may use; each may stand for a whole tree, so many of them make a bomb. */
  const maxAliases = 100;
  /** Faults that are told; the later ones mostly follow from the first. */
  const maxFaults = 20;
  /** Faults for which the library's words quote the text. */
  const ownWords: Readonly<Record<string, string>> = {
    BAD_ALIAS: 'the alias is not one',
    BAD_DIRECTIVE: 'directives are not taken',
    BAD_DQ_ESCAPE: 'an escape in the quoted text is not one',
    TAG_RESOLVE_FAILED: 'tags are not taken',
  };
  const lines = new yaml.LineCounter();
  const problems: Issue[] = [];

  const tell = (offset: number, message: string) => {
    if (problems.length >= maxFaults) return;
    const { line, col } = lines.linePos(offset);
    problems.push({ path: `line ${line}, column ${col}`, message });
  };
  const refuse = (reason: string): YamlReading => ({
    ok: false,
    problems: [{ path: '', message: `the configuration ${reason}` }],
  });
  const checkKeys = (node: unknown): void => {
    if (yaml.isSeq(node)) for (const item of node.items) checkKeys(item);
    if (!yaml.isMap(node)) return;
    const seen = new Set<string>();
    for (const { key, value } of node.items) {
      const offset = (yaml.isNode(key) ? key.range?.[0] : undefined) ?? 0;
      if (!yaml.isScalar(key)) tell(offset, 'a key must be a text');
      else {
        const name = String(key.value ?? '');
        if (seen.has(name)) tell(offset, 'keys must be unique');
        seen.add(name);
      }
      checkKeys(value);
    }
  };

  try {
    const document = yaml.parseDocument(text, {
      version: '1.2',
      schema: 'core',
      customTags: [],
      // The library compares every key with every other one: checkKeys does not.
      uniqueKeys: false,
      // Pretty errors quote the line, and the line may hold a secret.
      prettyErrors: false,
      lineCounter: lines,
    });
    for (const { pos, code, message } of [...document.errors, ...document.warnings]) {
      if (code === 'RESOURCE_EXHAUSTION') return refuse('is nested too deep to be read');
      tell(pos[0], ownWords[code] ?? message.split(': ')[0] ?? code);
    }
    if (problems.length === 0) checkKeys(document.contents);
    if (problems.length > 0) return { ok: false, problems };
    return { ok: true, value: document.toJS({ maxAliasCount: maxAliases }) };
  } catch (error) {
    if (error instanceof RangeError) return refuse('is nested too deep to be read');
    if (!(error instanceof ReferenceError)) throw error;
    const isTooMany = error.message.startsWith('Excessive');
    return refuse(isTooMany ? `uses more than ${maxAliases} aliases` : 'uses an alias that has no anchor');
  }
}

/** A text that takes longer is given up, milliseconds. */
const TIME_LIMIT_MS = 30_000;

/** A text that takes more memory is given up, megabytes. */
const MEMORY_LIMIT_MB = 1024;

const WORKER = `
const { parentPort, workerData } = require('node:worker_threads');
parentPort.postMessage((${readYaml})(require(workerData.library), workerData.text));
`;

/** The same as readYaml in a thread of its own: a megabyte takes a second, and no stream should wait for it. Never rejects. */
export function readYamlInThread(text: string): Promise<YamlReading> {
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
