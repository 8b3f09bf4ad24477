import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '../errors.ts';
import { terminalIndex } from '../events.ts';
import type { Item } from '../items.ts';
import type { Result } from '../result.ts';
import { NO_USAGE } from '../usage.ts';
import { fold } from './fold.ts';
import { unfold } from './unfold.ts';

const text = fc.string({ maxLength: 12 });
const absent = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const status = fc.constantFrom('completed', 'incomplete', 'in_progress');
const ext = absent(fc.constantFrom({ chat: { a: 1 } }, { messages: { b: [2] }, chat: { c: null } }));
const annotation = fc.constantFrom(
  { type: 'url-citation', url: 'https://x.y', startIndex: 1 },
  { type: 'opaque', dialect: 'responses', value: { z: 1 } },
);

/** Without members that are undefined, as folding leaves them out. */
const clean = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

const part = fc.oneof(
  fc.record({
    type: fc.constant('text'),
    text,
    ext,
    annotations: absent(fc.array(annotation, { minLength: 1, maxLength: 2 })),
    logprobs: absent(fc.array(fc.record({ token: text }), { minLength: 1, maxLength: 3 })),
  }),
  fc.record({ type: fc.constant('refusal'), refusal: text, ext }),
);

const item: fc.Arbitrary<Item> = fc
  .oneof(
    fc.record({
      type: fc.constant('message'),
      role: fc.constant('assistant'),
      content: fc.array(part, { maxLength: 3 }),
      id: absent(text),
      phase: absent(text),
      status,
      ext,
    }),
    fc.record({
      type: fc.constant('reasoning'),
      text: fc.array(text, { maxLength: 3 }),
      summary: fc.array(text, { maxLength: 2 }),
      id: absent(text),
      signature: absent(text),
      encrypted: absent(text),
      format: absent(text),
      givenBy: absent(fc.constant('chat')),
      status,
      ext,
    }),
    fc
      .record({
        type: fc.constant('tool-call'),
        kind: fc.constantFrom('function', 'custom'),
        callId: text,
        name: text,
        namespace: absent(text),
        input: text,
        id: absent(text),
        signature: absent(text),
        signatureFormat: absent(text),
        signatureGivenBy: absent(fc.constant('chat')),
        status,
        ext,
      })
      // Who minted a seal is said only of a call that has one.
      .map((call) =>
        call.signature === undefined
          ? { ...call, signatureFormat: undefined, signatureGivenBy: undefined }
          : call,
      ),
    fc.record({
      type: fc.constant('image'),
      source: fc.record({ kind: fc.constant('url'), url: text }),
      id: absent(text),
      status,
      ext,
    }),
    fc.record({
      type: fc.constant('opaque'),
      dialect: fc.constantFrom('responses', 'messages'),
      value: fc.record({ type: text }),
    }),
  )
  .map((made) => clean(made) as Item);

const result: fc.Arbitrary<Result> = fc
  .record({
    items: fc.array(item, { maxLength: 5 }),
    upstreamId: absent(text),
    upstreamModel: absent(text),
    usage: absent(fc.constant({ ...NO_USAGE, inputTokens: 3, outputTokens: 4, source: 'measured' })),
    finish: fc.record({
      type: fc.constant('finish'),
      reason: fc.constantFrom('stop', 'length', 'tool-calls'),
      nativeReason: absent(text),
      ext,
    }),
  })
  .map((made) => clean(made) as Result);

describe('unfolding', () => {
  it('is the inverse of folding', () => {
    fc.assert(
      fc.property(result, (given) => {
        expect(clean(fold(unfold(given)))).toEqual(given);
      }),
      { numRuns: 500 },
    );
  });

  it('ends with exactly one terminal event, which is the last', () => {
    fc.assert(
      fc.property(result, (given) => {
        const events = unfold(given);
        expect(terminalIndex(events)).toBe(events.length - 1);
      }),
    );
  });

  it('emits a failure again', () => {
    const failure = new GatewayError('overloaded', 'busy');
    expect(fold(unfold({ items: [], failure })).failure).toBe(failure);
  });
});
