import { base64OfVector } from '../../dialects/shared/embeddings/vectors.ts';
import type { EmbeddingInput, EmbeddingSettings, Vector } from '../../ir/embedding.ts';
import { invalidRequest } from '../../ir/errors.ts';
import type { Event } from '../../ir/events.ts';
import { NO_USAGE } from '../../ir/usage.ts';
import { simulatedTokens } from './script.ts';

/** Numbers in a vector unless the request says otherwise. */
const USUAL_DIMENSIONS = 256;

/** Numbers that one word changes. */
const NUMBERS_PER_WORD = 8;

/** The longest vectors: as long as those of large models. */
const MAX_DIMENSIONS = 4096;

/** Words of an input that are looked at: an input may be as long as a body. */
const MAX_WORDS = 256;

/**
 * The answer to a request for embeddings: the same vector for the same input every time, of length 1. Each word adds
 * to a few numbers that depend on it alone, so that texts with words in common are near each other.
 */
export function embeddingScript(embedding: EmbeddingSettings, model: string): Event[] {
  if ((embedding.dimensions ?? 0) > MAX_DIMENSIONS) {
    throw invalidRequest([{ path: 'dimensions', message: `must be at most ${MAX_DIMENSIONS}` }]);
  }
  const inputTokens = embedding.inputs.reduce((sum, input) => sum + tokensOf(input), 0);
  const usage = { ...NO_USAGE, inputTokens, source: 'measured' } as const;
  const bill = { totalNanos: 0n, inputNanos: 0n, outputNanos: 0n, isByok: false };
  return [
    { type: 'start', upstreamModel: model },
    { type: 'vectors', vectors: embedding.inputs.map((input) => vectorOf(input, embedding)) },
    { type: 'usage', usage },
    { type: 'finish', reason: 'stop', settled: { usage, bill } },
  ];
}

function tokensOf(input: EmbeddingInput): number {
  return typeof input === 'string' ? simulatedTokens(input) : input.length;
}

/** One of the numbers of a vector, and its sign, by a word and a count: FNV-1a, which is cheap. */
function placeOf(word: string, count: number): number {
  let hash = 0x811c9dc5 ^ count;
  for (let at = 0; at < word.length; at++) hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}

function vectorOf(
  input: EmbeddingInput,
  { dimensions = USUAL_DIMENSIONS, encoding }: EmbeddingSettings,
): Vector {
  const numbers = new Array<number>(dimensions).fill(0);
  for (const word of wordsOf(input)) {
    for (let count = 0; count < NUMBERS_PER_WORD; count++) {
      const hash = placeOf(word, count);
      const place = (hash >>> 1) % dimensions;
      numbers[place] = (numbers[place] ?? 0) + ((hash & 1) === 0 ? -1 : 1);
    }
  }
  const length = Math.sqrt(numbers.reduce((sum, number) => sum + number * number, 0));
  const unit = length === 0 ? numbers.fill(1, 0, 1) : numbers.map((number) => number / length);
  return encoding === 'base64' ? base64OfVector(unit) : unit;
}

function wordsOf(input: EmbeddingInput): readonly string[] {
  const words = typeof input === 'string' ? (input.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [input]) : input;
  return words.slice(0, MAX_WORDS).map(String);
}
