import { isJsonObject } from '../../kit/json/json.ts';
import { isThreadTooBig, Thread, ThreadTooSlow } from '../../kit/thread/thread.ts';
import type { FilePlace } from '../problem.ts';
import { setOwn } from './portions.ts';
import type { PlaceQuery, YamlReading } from './read-yaml.ts';

/** A text to read or to search, or the next piece of what was found. */
export type YamlQuestion = { readonly text: string; readonly queries?: readonly PlaceQuery[] } | 'next';

/** Time limit of each question, milliseconds. */
const TIME_LIMIT_MS = 30_000;

/** Heap limit of the thread, megabytes. */
const MEMORY_LIMIT_MB = 1024;

/** `readYaml` in a worker thread: a megabyte takes a second, which would block all streams. Never rejects. */
export async function readYamlInThread(text: string): Promise<YamlReading> {
  try {
    return await askThread<YamlReading>({ text });
  } catch (error) {
    return { ok: false, reason: reasonOf(error) };
  }
}

/** `findPlaces` in a worker thread. Finds nothing if the thread fails. */
export async function findPlacesInThread(
  text: string,
  queries: readonly PlaceQuery[],
): Promise<(FilePlace | undefined)[]> {
  try {
    return await askThread<(FilePlace | undefined)[]>({ text, queries });
  } catch {
    return queries.map(() => undefined);
  }
}

async function askThread<T extends object>(question: YamlQuestion): Promise<T> {
  const thread = new Thread<YamlQuestion, object | undefined>(
    new URL('./yaml-thread-main.js', import.meta.url),
    { limits: { maxOldGenerationSizeMb: MEMORY_LIMIT_MB } },
  );
  try {
    const result = (await thread.ask(question, { limitMs: TIME_LIMIT_MS })) as T;
    for (;;) {
      const piece = await thread.ask('next', { limitMs: TIME_LIMIT_MS });
      if (piece === undefined) return result;
      addPiece(result, piece);
      // Others have their turn between two pieces.
      await new Promise(setImmediate);
    }
  } finally {
    void thread.terminate();
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof ThreadTooSlow) return `takes more than ${TIME_LIMIT_MS / 1000} seconds to read`;
  return isThreadTooBig(error)
    ? `takes more than ${MEMORY_LIMIT_MB} MB of memory to read`
    : 'could not be read';
}

/**
 * A result in pieces, since each message is read in one go: everything but the members of `models` and `prompts`, then
 * these.
 */
export function* piecesOf(result: object): Generator<object, undefined, void> {
  const value = 'value' in result && isJsonObject(result.value) ? result.value : undefined;
  const { models, prompts } = (value ?? {}) as { readonly models?: unknown; readonly prompts?: unknown };
  const cut = { ...(Array.isArray(models) && { models: [] }), ...(isJsonObject(prompts) && { prompts: {} }) };
  yield value === undefined ? result : { ...result, value: { ...value, ...cut } };
  const all = Array.isArray(models) ? models : [];
  for (let at = 0; at < all.length; at += 250) yield { models: all.slice(at, at + 250) };
  const entries = isJsonObject(prompts) ? Object.entries(prompts) : [];
  for (let at = 0; at < entries.length; at += 1000) yield { prompts: entries.slice(at, at + 1000) };
  return undefined;
}

interface Piece {
  readonly models?: readonly unknown[];
  readonly prompts?: readonly (readonly [string, unknown])[];
}

function addPiece(result: unknown, { models = [], prompts = [] }: Piece): void {
  const { value } = result as { value: { models: unknown[]; prompts: Record<string, unknown> } };
  for (const model of models) value.models.push(model);
  for (const [name, prompt] of prompts) setOwn(value.prompts, name, prompt);
}
