import { isJsonObject, type JsonObject } from '../../../kit/json/json.ts';
import type { Egress } from '../../../net/egress/egress.ts';
import { callService, type ProviderService, ServiceFailed } from '../provider-service.ts';

export interface FlaggedText {
  readonly text: string;
  readonly reasons: string[];
}

const PATH = '/moderations';

const LIMITS = { totalMs: 10_000, maxBytes: 4 * 1024 * 1024 };

/** Longer texts are judged in pieces: services limit the length of one. */
const PIECE_CHARACTERS = 20_000;
/** Characters that two pieces of one text share, so that what stands at a cut is judged whole. */
const SHARED_CHARACTERS = 200;

const CALL_TEXTS = 32;
const CALL_CHARACTERS = 100_000;

/** The first text that the service flags, with all its reasons; undefined = none. Rejects as `callService` does. */
export async function flaggedAmong(
  texts: Iterable<string>,
  service: ProviderService,
  signal: AbortSignal,
  egress: Pick<Egress, 'call'>,
): Promise<FlaggedText | undefined> {
  for (const input of batchesOf(piecesOf(texts))) {
    const call = { path: PATH, body: { input }, limits: LIMITS, signal };
    const verdicts = verdictsIn(await callService(service, call, egress), input.length);
    if (verdicts === undefined) {
      throw new ServiceFailed(service.provider, PATH, 'its answer is not one verdict for each text', true);
    }
    const index = verdicts.findIndex(({ flagged }) => flagged);
    if (index !== -1) return { text: input[index] ?? '', reasons: verdicts[index]?.reasons ?? [] };
  }
  return undefined;
}

function* piecesOf(texts: Iterable<string>): Generator<string, void, undefined> {
  for (const text of texts) {
    for (let from = 0; from === 0 || from + SHARED_CHARACTERS < text.length; ) {
      yield text.slice(from, from + PIECE_CHARACTERS);
      from += PIECE_CHARACTERS - SHARED_CHARACTERS;
    }
  }
}

function* batchesOf(pieces: Iterable<string>): Generator<string[], void, undefined> {
  let batch: string[] = [];
  let characters = 0;
  for (const piece of pieces) {
    if (batch.length === CALL_TEXTS || (batch.length > 0 && characters + piece.length > CALL_CHARACTERS)) {
      yield batch;
      batch = [];
      characters = 0;
    }
    batch.push(piece);
    characters += piece.length;
  }
  if (batch.length > 0) yield batch;
}

interface Verdict {
  readonly flagged: boolean;
  readonly reasons: string[];
}

/** The verdicts of an answer, one for each text; undefined if it has others. */
function verdictsIn({ results }: JsonObject, texts: number): Verdict[] | undefined {
  if (!Array.isArray(results) || results.length !== texts) return undefined;
  const verdicts: Verdict[] = [];
  for (const result of results) {
    if (!isJsonObject(result) || typeof result.flagged !== 'boolean') return undefined;
    const categories = isJsonObject(result.categories) ? result.categories : {};
    const reasons = Object.keys(categories).filter((name) => categories[name] === true);
    verdicts.push({ flagged: result.flagged, reasons });
  }
  return verdicts;
}
