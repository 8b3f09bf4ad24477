import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { DIALECTS } from '../../../../src/dialects/dialects.ts';
import type { Event } from '../../../../src/ir/events.ts';
import { fold } from '../../../../src/ir/folding/fold.ts';
import { SseReader } from '../../../../src/kit/frames/sse.ts';
import { requestOf } from '../../../kit/builders/request.ts';
import { sse } from '../../../kit/fakes/answers.ts';
import { seededRandom } from '../../../laws/fuzz/mutate.ts';
import { DIALECTS as WORDED } from '../bench-of-upstreams.ts';

/** Cuts per stream; the seeds are 1 to this number. */
const SEEDS = Number(process.env.FAULT_SEEDS ?? 10_000);

const CONTENTS = [
  { text: 'Grüße \u{1F600} und mehr' },
  { text: 'x', reasoning: 'Erst denken \u{1F914}, dann reden' },
  {
    tools: [
      { name: 'f', arguments: '{"city":"Zürich \u{1F1E8}\u{1F1ED}"}' },
      { name: 'g', arguments: '{}' },
    ],
  },
  { text: 'lang '.repeat(50), usage: { input: 7, output: 9, cached: 3 }, finish: 'length' as const },
];

describe.each(WORDED)('a $word stream', ({ format, frames }) => {
  it.each(CONTENTS)(`folds to one result however its bytes are cut (${SEEDS} cuts): %j`, (content) => {
    const bytes = Buffer.from(sse(frames(content)));
    const results = new Set<string>();
    for (let seed = 1; seed <= SEEDS; seed++) results.add(digestOf(format, cut(bytes, seededRandom(seed))));
    expect(results.size).toBe(1);
  });
});

function cut(bytes: Buffer, random: () => number): Buffer[] {
  const pieces: Buffer[] = [];
  const longest = 1 + Math.floor(random() * 300);
  for (let at = 0; at < bytes.length; ) {
    const size = 1 + Math.floor(random() * longest);
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return pieces;
}

function digestOf(format: 'chat' | 'responses' | 'messages', pieces: readonly Buffer[]): string {
  const decoder = DIALECTS[format].upstream.createDecoder({ request: requestOf({ format }), relay: false });
  if (decoder === undefined) throw new Error('no such dialect');
  const reader = new SseReader();
  const events: Event[] = [];
  for (const piece of pieces) for (const frame of reader.push(piece)) events.push(...decoder.decode(frame));
  for (const frame of reader.end()) events.push(...decoder.decode(frame));
  events.push(...decoder.end());
  return createHash('sha256')
    .update(JSON.stringify(fold(events)))
    .digest('hex');
}
