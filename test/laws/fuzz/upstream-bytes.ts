import { DIALECTS } from '../../../src/dialects/dialects.ts';
import { terminalOf } from '../../../src/ir/events.ts';
import { Fold } from '../../../src/ir/folding/fold.ts';
import { NO_USAGE } from '../../../src/ir/usage.ts';
import { SseReader } from '../../../src/kit/frames/sse.ts';
import { requestOf } from '../../kit/builders/request.ts';
import { chatFrames, messagesFrames, responsesFrames, sse } from '../../kit/fakes/answers.ts';
import { mutate, pick, seededRandom } from './mutate.ts';

const CONTENT = {
  text: 'Hello wörld \u{1F600}',
  reasoning: 'Let me think',
  tools: [{ name: 'f', arguments: '{"city":"Oslo"}' }],
};

const FRAMES = {
  chat: chatFrames(CONTENT),
  responses: responsesFrames(CONTENT),
  messages: messagesFrames(CONTENT),
};
const FORMATS = ['chat', 'responses', 'messages'] as const;

/**
 * Feeds damaged upstream streams through reader, decoder, fold and encoder, in both lanes. Throws where one of them
 * does.
 */
export function fuzzUpstreamBytes(count: number, seed: number): { terminals: Record<string, number> } {
  const random = seededRandom(seed);
  const terminals: Record<string, number> = {};
  for (let run = 0; run < count; run++) {
    const upstream = pick(random, FORMATS);
    const inbound = pick(random, FORMATS);
    const isRelay = upstream === inbound && random() < 0.7;
    const bytes = damage(random, upstream);
    const request = requestOf({ format: inbound, body: { model: 'm', input: 'x', messages: [] } });
    const dialect = DIALECTS[upstream].upstream;
    if (dialect === undefined) throw new Error('no such dialect');
    const decoder = dialect.createDecoder({ request, relay: isRelay });
    const encoder = DIALECTS[inbound].inbound.createEncoder({
      vendor: 'signalbox',
      request,
      generationId: 'gen-1-abcdefghij',
      createdAtMs: 0,
      now: () => 0,
      model: 'm',
      provider: 'P',
      serviceTier: 'default',
    });
    const fold = new Fold();
    const reader = new SseReader();
    let ended: string | undefined;
    const take = (events: ReturnType<typeof decoder.decode>) => {
      for (const event of events) {
        if (ended !== undefined) continue;
        const terminal = terminalOf(event);
        if (event.type === 'relay' || terminal === undefined) {
          fold.push(event);
          encoder.encode([event]);
        }
        if (terminal !== undefined) {
          ended = terminal.type;
          fold.push(terminal);
          encoder.encode([
            {
              ...terminal,
              settled: {
                usage: fold.result().usage ?? NO_USAGE,
                bill: { totalNanos: 0n, inputNanos: 0n, outputNanos: 0n, isByok: false },
              },
            },
          ]);
        }
      }
    };
    for (let at = 0; at < bytes.length; ) {
      const size = 1 + Math.floor(random() * 200);
      for (const frame of reader.push(bytes.subarray(at, at + size))) take(decoder.decode(frame));
      at += size;
    }
    for (const frame of reader.end()) take(decoder.decode(frame));
    take(decoder.end());
    if (ended === undefined) throw new Error(`run ${run} of seed ${seed}: no terminal event`);
    fold.result();
    terminals[ended] = (terminals[ended] ?? 0) + 1;
  }
  return { terminals };
}

function damage(random: () => number, format: (typeof FORMATS)[number]): Buffer {
  const frames = FRAMES[format].flatMap((frame) => {
    const action = random();
    if (action < 0.05) return [];
    if (action < 0.1) return [frame, frame];
    if (action < 0.25 && typeof frame.data === 'object')
      return [{ ...frame, data: mutate(random, frame.data) ?? null }];
    if (action < 0.28) return [{ ...frame, data: '{"broken":' }];
    return [frame];
  });
  const bytes = Buffer.from(sse(frames));
  if (random() < 0.3) bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
  return random() < 0.2 ? bytes.subarray(0, Math.floor(random() * bytes.length)) : bytes;
}
