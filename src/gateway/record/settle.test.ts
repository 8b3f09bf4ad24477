import { describe, expect, it } from 'vitest';
import { endpointOf, modelOf } from '../../../test/kit/builders/catalog.ts';
import { priceListsOf } from '../../catalog/prices/price-history.ts';
import { GatewayError } from '../../ir/errors.ts';
import type { Event, EventBatch } from '../../ir/events.ts';
import type { Result } from '../../ir/result.ts';
import { NO_USAGE, type Usage } from '../../ir/usage.ts';
import { LedgerUnavailable } from '../../ports/money/ledger.ts';
import { SHARED } from '../../routing/rules/candidate.ts';
import { UpstreamFailure } from '../../upstream/upstream.ts';
import { type AnswerEnd, legAccount } from '../leg/leg-account.ts';
import { SettledAnswer, type Settlement } from './settle.ts';

const measured: Usage = { ...NO_USAGE, inputTokens: 10, outputTokens: 5, source: 'measured' };
const estimated: Usage = { ...NO_USAGE, inputTokens: 7, outputTokens: 3, source: 'estimated' };
const text: Event[] = [
  { type: 'item-start', item: 0, head: { type: 'message' } },
  { type: 'text-delta', item: 0, part: 0, kind: 'text', text: 'hi' },
];

function dependenciesFor(records: Settlement[], endpoint = endpointOf(), acceptedAtMs = 0) {
  const model = modelOf({ endpoints: [endpoint] });
  const selected = { model, endpoint, access: SHARED, lane: 'translate' as const, isSticky: false };
  const facts = {
    selected,
    calling: selected,
    billing: { acceptedAtMs, inputImages: 0, byokFee: 0, catalog: { models: [] } },
    believe: (reported: Usage | undefined) => reported,
    isConceivable: () => true,
    estimate: async () => estimated,
    withThoughts: (usage: Usage) => usage,
    worst: async () => 0n,
    chargesParts: false,
  };
  return {
    account: (result: Result, end: AnswerEnd) => legAccount(result, end, facts),
    metadata: () => undefined,
    keptCharacters: Number.POSITIVE_INFINITY,
    watch: () => {},
    mayGoOn: () => true,
    reading: { isAbandoned: false, isDraining: false },
    record: async (settlement: Settlement) => {
      records.push(settlement);
      return settlement.bill;
    },
  };
}

async function settleAll(batches: EventBatch[]) {
  const records: Settlement[] = [];
  const events: Event[] = [];
  async function* answer() {
    yield* batches;
  }
  for await (const batch of new SettledAnswer(answer(), dependenciesFor(records))) events.push(...batch);
  return { records, terminal: events.at(-1), events };
}

describe('a settled answer', () => {
  it.each([
    [0, 10, 30n],
    [5000, 10, 20n],
    [5000, 1000, 4000n],
  ])(
    'prices by the moment of the request (%i) and the length of its prompt (%i)',
    async (atMs, tokens, nanos) => {
      const priceLists = priceListsOf({
        pricing: { prompt: '0.000000003' },
        prices: [
          {
            from: '1970-01-01T00:00:05Z',
            pricing: {
              prompt: '0.000000002',
              overrides: [{ min_prompt_tokens: 1000, prompt: '0.000000004' }],
            },
          },
        ],
      });
      const records: Settlement[] = [];
      async function* answer(): AsyncGenerator<EventBatch> {
        const usage = { ...measured, inputTokens: tokens };
        yield [...text, { type: 'usage', usage }, { type: 'finish', reason: 'stop' }];
      }
      const dependencies = dependenciesFor(records, endpointOf({ priceLists }), atMs);
      for await (const _ of new SettledAnswer(answer(), dependencies));
      expect(records[0]?.bill.totalNanos).toBe(nanos);
    },
  );

  it('adds what the upstream measured and what it costs to the terminal event', async () => {
    const { records, terminal } = await settleAll([
      text,
      [
        { type: 'usage', usage: measured },
        { type: 'finish', reason: 'stop' },
      ],
    ]);
    expect(terminal).toMatchObject({
      type: 'finish',
      settled: { usage: measured, bill: { totalNanos: 30_000n } },
    });
    expect(records).toHaveLength(1);
    expect(records[0]?.outcome).toBe('finished');
  });

  it('estimates only when nothing was reported: an explicit zero stays zero', async () => {
    const zero: Usage = { ...NO_USAGE, source: 'measured' };
    const withZero = await settleAll([
      text,
      [
        { type: 'usage', usage: zero },
        { type: 'finish', reason: 'stop' },
      ],
    ]);
    expect(withZero.records[0]?.usage).toEqual(zero);
    const without = await settleAll([text, [{ type: 'finish', reason: 'stop' }]]);
    expect(without.records[0]?.usage).toEqual(estimated);
  });

  it('charges nothing for an answer that failed, and says what was used', async () => {
    const error = new GatewayError('upstream-unavailable', 'cut');
    const { records, terminal } = await settleAll([text, [{ type: 'failure', error }]]);
    expect(terminal).toMatchObject({
      type: 'failure',
      settled: { usage: estimated, bill: { totalNanos: 0n } },
    });
    expect(records[0]).toMatchObject({ outcome: 'failed', error });
  });

  it('charges nothing for an empty answer without a reason', async () => {
    const { records } = await settleAll([
      [
        { type: 'usage', usage: { ...measured, outputTokens: 0 } },
        { type: 'finish', reason: 'stop' },
      ],
    ]);
    expect(records[0]?.bill.totalNanos).toBe(0n);
  });

  it('settles an answer once if its reader stops early', async () => {
    const records: Settlement[] = [];
    async function* answer(): AsyncGenerator<EventBatch> {
      yield text;
      yield [{ type: 'finish', reason: 'stop' }];
    }
    for await (const _ of new SettledAnswer(answer(), dependenciesFor(records))) break;
    expect(records).toHaveLength(1);
    expect(records[0]).toMatchObject({ outcome: 'aborted', usage: estimated });
    expect(records[0]?.bill.totalNanos).toBe(19_000n);
  });

  it('lets relayed frames pass and puts the settled end behind them', async () => {
    const inner: Event[] = [
      { type: 'usage', usage: measured },
      { type: 'finish', reason: 'stop' },
    ];
    const relay: Event = {
      type: 'relay',
      dialect: 'responses',
      frame: { data: '{}' },
      value: {},
      events: inner,
    };
    const { events } = await settleAll([text, [relay, { type: 'opaque', dialect: 'responses', value: {} }]]);
    expect(events.map(({ type }) => type)).toEqual(['item-start', 'text-delta', 'relay', 'finish']);
    expect(events.at(-1)).toMatchObject({ settled: { usage: measured } });
  });

  it('ends an answer in the middle when there is no money for more', async () => {
    const records: Settlement[] = [];
    let isClosed = false;
    async function* answer(): AsyncGenerator<EventBatch> {
      try {
        yield text;
        yield [{ type: 'text-delta', item: 0, part: 0, kind: 'text', text: ' more' }];
        yield [{ type: 'finish', reason: 'stop' }];
      } finally {
        isClosed = true;
      }
    }
    let batches = 0;
    const events: Event[] = [];
    const dependencies = { ...dependenciesFor(records), mayGoOn: () => ++batches < 2 };
    for await (const batch of new SettledAnswer(answer(), dependencies)) events.push(...batch);
    expect(events.slice(2)).toEqual([
      { type: 'text-delta', item: 0, part: 0, kind: 'text', text: ' more' },
      { type: 'item-end', item: 0, status: 'incomplete' },
      expect.objectContaining({ type: 'finish', reason: 'length', settled: expect.anything() }),
    ]);
    expect(isClosed).toBe(true);
    expect(records).toHaveLength(1);
    expect(records[0]).toMatchObject({ outcome: 'finished', bill: { totalNanos: 19_000n } });
  });

  it('reads an abandoned answer to its end if the upstream bills all of it', async () => {
    const records: Settlement[] = [];
    async function* answer(): AsyncGenerator<EventBatch> {
      yield text;
      yield [{ type: 'text-delta', item: 0, part: 0, kind: 'text', text: 'unheard' }];
      yield [{ type: 'usage', usage: measured }];
      yield [{ type: 'finish', reason: 'stop' }];
    }
    const watched: Event[] = [];
    const dependencies = {
      ...dependenciesFor(records),
      reading: { isAbandoned: true, isDraining: true },
      watch: (batch: EventBatch) => void watched.push(...batch),
    };
    for await (const _ of new SettledAnswer(answer(), dependencies)) break;
    expect(watched).toContainEqual(expect.objectContaining({ text: 'unheard' }));
    expect(records).toHaveLength(1);
    expect(records[0]).toMatchObject({ outcome: 'aborted', usage: measured, bill: { totalNanos: 30_000n } });
  });

  it('keeps no more of a text than `keptCharacters`, also after the caller left', async () => {
    const records: Settlement[] = [];
    const piece = (words: string): Event => ({
      type: 'text-delta',
      item: 0,
      part: 0,
      kind: 'text',
      text: words,
    });
    async function* answer(): AsyncGenerator<EventBatch> {
      yield [{ type: 'item-start', item: 0, head: { type: 'message' } }, piece('abc')];
      yield [piece('defg')];
      yield [{ type: 'finish', reason: 'stop' }];
    }
    const reading = { isAbandoned: true, isDraining: true };
    for await (const _ of new SettledAnswer(answer(), {
      ...dependenciesFor(records),
      keptCharacters: 5,
      reading,
    }))
      break;
    expect(records[0]?.result).toMatchObject({
      items: [{ content: [{ text: 'abc' }] }],
      omitted: { other: { characters: 4 } },
    });
  });

  it('shows what was charged rather than what was used', async () => {
    const records: Settlement[] = [];
    async function* answer(): AsyncGenerator<EventBatch> {
      yield [...text, { type: 'usage', usage: measured }, { type: 'finish', reason: 'stop' }];
    }
    const dependencies = {
      ...dependenciesFor(records),
      record: async ({ bill }: Settlement) => ({ ...bill, totalNanos: 12n }),
    };
    const events: Event[] = [];
    for await (const batch of new SettledAnswer(answer(), dependencies)) events.push(...batch);
    expect(events.at(-1)).toMatchObject({ type: 'finish', settled: { bill: { totalNanos: 12n } } });
  });

  it('passes on no success that was not recorded', async () => {
    async function* answer(): AsyncGenerator<EventBatch> {
      yield [...text, { type: 'finish', reason: 'stop' }];
    }
    const dependencies = {
      ...dependenciesFor([]),
      record: async () => {
        throw new LedgerUnavailable('the disk is full');
      },
    };
    const events: Event[] = [];
    for await (const batch of new SettledAnswer(answer(), dependencies)) events.push(...batch);
    expect(events.at(-1)).toMatchObject({
      type: 'failure',
      error: { kind: 'overloaded' },
      settled: { usage: NO_USAGE, bill: { totalNanos: 0n } },
    });
  });

  it.each([
    ['the deadline of the gateway', new GatewayError('deadline', 'too late'), 19_000n],
    ['the end of the gateway', new GatewayError('overloaded', 'shutting down'), 19_000n],
    ['an overloaded upstream', new UpstreamFailure('overloaded', 'busy', 503), 0n],
  ])('charges what was written before %s', async (_, error, nanos) => {
    const { records } = await settleAll([text, [{ type: 'failure', error }]]);
    expect(records[0]).toMatchObject({ outcome: 'failed', bill: { totalNanos: nanos } });
  });

  describe('whose first step was put back', () => {
    /** Notes that it was ended. */
    function hello(ended: string[]) {
      async function* answer(): AsyncGenerator<EventBatch> {
        try {
          yield text;
          yield [
            { type: 'usage', usage: measured },
            { type: 'finish', reason: 'stop' },
          ];
        } finally {
          ended.push('ended');
        }
      }
      return answer();
    }

    it('has every step once', async () => {
      const answer = new SettledAnswer(hello([]), dependenciesFor([]));
      answer.putBack(await answer.next());
      expect(answer.poll()).toBeUndefined();
      const events: Event[] = [];
      for await (const batch of answer) events.push(...batch);
      expect(events.map(({ type }) => type)).toEqual(['item-start', 'text-delta', 'usage', 'finish']);
    });

    it('ends its source where it is left before that step', async () => {
      const ended: string[] = [];
      const records: Settlement[] = [];
      const answer = new SettledAnswer(hello(ended), dependenciesFor(records));
      answer.putBack(await answer.next());
      await answer.return();
      expect(ended).toEqual(['ended']);
      expect(records).toHaveLength(1);
      expect(await answer.next()).toEqual({ done: true, value: undefined });
    });
  });
});
