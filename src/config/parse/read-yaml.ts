import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import type { Issue } from '../../kit/json/validate.ts';

/** The value of a YAML text, or its problems. */
export type YamlReading =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problems: readonly Issue[] };

/** The YAML library, passed as an argument because `readYaml` also runs in a worker. */
export type YamlLibrary = typeof import('yaml');

/**
 * Parses YAML 1.2 without tags in linear time. No problem quotes the text, because any of it may be secret. The
 * function must be self-contained: the worker thread gets its source text.
 */
export function readYaml(yaml: YamlLibrary, text: string): YamlReading {
  /** Limit of aliases (`*name`): each may expand to a whole tree. */
  const maxAliases = 100;
  /** Problems reported; later ones mostly follow from the first. */
  const maxProblems = 20;
  /** Our message for codes whose library message quotes the text. */
  const ownMessages: Readonly<Record<string, string>> = {
    BAD_ALIAS: 'the alias is not one',
    BAD_DIRECTIVE: 'directives are not taken',
    BAD_DQ_ESCAPE: 'an escape in the quoted text is not one',
    TAG_RESOLVE_FAILED: 'tags are not taken',
  };
  const lines = new yaml.LineCounter();
  const problems: Issue[] = [];

  const report = (offset: number, message: string) => {
    if (problems.length >= maxProblems) return;
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
      if (!yaml.isScalar(key)) report(offset, 'a key must be a text');
      else {
        const name = String(key.value ?? '');
        if (seen.has(name)) report(offset, 'keys must be unique');
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
      // The library's check takes quadratic time; checkKeys takes linear time.
      uniqueKeys: false,
      // Pretty errors quote the line, which may hold a secret.
      prettyErrors: false,
      lineCounter: lines,
    });
    for (const { pos, code, message } of [...document.errors, ...document.warnings]) {
      if (code === 'RESOURCE_EXHAUSTION') return refuse('is nested too deep to be read');
      report(pos[0], ownMessages[code] ?? message.split(': ')[0] ?? code);
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

/** Time limit of the thread, milliseconds. */
const TIME_LIMIT_MS = 30_000;

/** Heap limit of the thread, megabytes. */
const MEMORY_LIMIT_MB = 1024;

const WORKER = `
const { parentPort, workerData } = require('node:worker_threads');
parentPort.postMessage((${readYaml})(require(workerData.library), workerData.text));
`;

/** As readYaml, in a worker thread: a megabyte takes a second, which would block all streams. Never rejects. */
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
    // Does not keep the process alive.
    worker.unref();
  });
}
