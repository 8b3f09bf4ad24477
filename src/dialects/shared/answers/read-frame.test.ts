import { describe, expect, it } from 'vitest';
import { requestOf } from '../../../../test/kit/builders/request.ts';
import { chatFrames, messagesFrames, responsesFrames, sse } from '../../../../test/kit/fakes/answers.ts';
import { GatewayError } from '../../../ir/errors.ts';
import { terminalOf } from '../../../ir/events.ts';
import { fold } from '../../../ir/folding/fold.ts';
import { SseReader } from '../../../kit/frames/sse.ts';
import { DIALECTS } from '../../dialects.ts';
import { readFrame, readListedFrame, STEP_LIMITS } from './read-frame.ts';

describe('a frame', () => {
  it('holds an object', () => {
    expect(readFrame({ data: ' {"a":1} ' })).toEqual({ a: 1 });
  });

  it.each(['', '[DONE]', 'hello', ': x', '[{"a":1}]', '[{', '5', 'null', '"{"'])(
    'holds nothing: %s',
    (data) => {
      expect(readFrame({ data })).toBeUndefined();
    },
  );

  const lists = '['.repeat(70) + ']'.repeat(70);

  it.each(['{', '{"a":', ' {"a":1}}', '{not json', `{"a":${lists}}`, lists, ` ${lists}`, '['.repeat(70)])(
    'cannot be read: %s',
    (data) => {
      for (const reading of [readFrame({ data }), readListedFrame({ data }, STEP_LIMITS)]) {
        expect(reading).toBeInstanceOf(GatewayError);
        expect(reading).toMatchObject({ kind: 'upstream-unavailable' });
      }
    },
  );
});

describe.each([
  ['chat', chatFrames],
  ['responses', responsesFrames],
  ['messages', messagesFrames],
] as const)('an answer of a %s upstream', (name, framesOf) => {
  const frames = new SseReader().push(Buffer.from(sse(framesOf({ text: 'AAA BBB CCC' }))));

  function ending(inserted: string, relay: boolean) {
    const decoder = DIALECTS[name].upstream.createDecoder({ request: requestOf({ format: name }), relay });
    const half = frames.findIndex(({ data }) => data.includes('AAA')) + 1;
    const sent = [...frames.slice(0, half), { data: inserted }, ...frames.slice(half)];
    return [...sent.flatMap((frame) => decoder?.decode(frame) ?? []), ...(decoder?.end() ?? [])];
  }

  it.each([true, false])('fails over an event of nested lists (relay: %s)', (relay) => {
    const terminals = ending('['.repeat(200_000) + ']'.repeat(200_000), relay).flatMap(
      (event) => terminalOf(event) ?? [],
    );
    expect(terminals).toMatchObject([{ type: 'failure', error: { kind: 'upstream-unavailable' } }]);
  });

  it.each([true, false])('fails over an event that is broken (relay: %s)', (relay) => {
    const events = ending('{"type":', relay);
    const terminals = events.flatMap((event) => terminalOf(event) ?? []);
    expect(terminals).toMatchObject([{ type: 'failure', error: { kind: 'upstream-unavailable' } }]);
    expect(terminals[0]?.type === 'failure' && terminals[0].error.message).toBe(
      'The provider sent an event that cannot be read',
    );
  });

  it.each(['hello', '[1]', '5', 'null'])('ignores %s', (word) => {
    const result = fold(ending(word, false));
    expect(result.finish).toBeDefined();
    expect(JSON.stringify(result.items)).toContain('AAA BBB CCC');
  });
});
