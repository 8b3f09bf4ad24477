import { base64Of } from '../../dialects/shared/embeddings/vectors.ts';
import type { EmbeddingInput, EmbeddingSettings, Vector } from '../../ir/embedding.ts';
import type { Event } from '../../ir/events.ts';
import { NO_USAGE } from '../../ir/usage.ts';
import { Dice } from './dice.ts';
import { simulatedTokens } from './script.ts';

/** Numbers in a vector unless the request says otherwise. */
const USUAL_DIMENSIONS = 256;

/** Numbers that one word changes. */
const NUMBERS_PER_WORD = 8;

/** Words of an input that are looked at: an input may be as long as a body. */
const MAX_WORDS = 2000;

/**
 * The answer to a request for embeddings: the same vector for the same input every time, of length 1. Each word adds
 * to a few numbers that depend on it alone, so that texts with words in common are near each other.
 */
export function embeddingScript(embedding: EmbeddingSettings, model: string): Event[] {
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

function vectorOf(
  input: EmbeddingInput,
  { dimensions = USUAL_DIMENSIONS, encoding }: EmbeddingSettings,
): Vector {
  const numbers = new Array<number>(dimensions).fill(0);
  for (const word of wordsOf(input)) {
    const dice = new Dice(word);
    for (let count = 0; count < NUMBERS_PER_WORD; count++) {
      const place = dice.roll(dimensions);
      numbers[place] = (numbers[place] ?? 0) + (dice.roll(2) === 0 ? -1 : 1);
    }
  }
  const length = Math.hypot(...numbers);
  const unit = length === 0 ? numbers.fill(1, 0, 1) : numbers.map((number) => number / length);
  return encoding === 'base64' ? base64Of(unit) : unit;
}

function wordsOf(input: EmbeddingInput): readonly string[] {
  const words = typeof input === 'string' ? (input.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [input]) : input;
  return words.slice(0, MAX_WORDS).map(String);
}
