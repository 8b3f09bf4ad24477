import { describe, expect, it } from 'vitest';
import type { TranslationEntry } from '../../../src/ir/metadata.ts';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { expectedOf, unexpectedIn } from './expected.ts';
import { type Asked, fateInRequest } from './fate.ts';
import type { Reply } from './lanes.ts';
import { consistent, judgeEach, type Outcome } from './outcome.ts';
import { OWNERS } from './upstreams.ts';

type Entry = Pick<TranslationEntry, 'field' | 'action'>;

function reply(body: JsonObject, entries: readonly Entry[] = []): Reply {
  const text = JSON.stringify({ signalbox_metadata: { translation: entries } });
  return { status: 200, text, received: { headers: {}, body } };
}

function asked(body: JsonObject, without: JsonObject, more: Partial<Asked> = {}): Asked {
  return { body, without, isRelay: false, faultsIn: () => undefined, ...more };
}

/** The fate of `tools[0].x = 1`, if the upstream gets the same with and without it. */
function fateOf(...entries: readonly Entry[]) {
  const question = asked({ tools: [{ x: 1 }] }, { tools: [{}] });
  return fateInRequest(question, reply({ a: 1 }, entries), reply({ a: 1 }));
}

describe('the fate of what a request says', () => {
  it('is passed in a relay that leaves it where it is', () => {
    const question = asked({ seed: 1 }, {}, { isRelay: true });
    expect(fateInRequest(question, reply({ seed: 1 }))).toEqual({ fate: 'passed' });
    expect(fateInRequest(question, reply({}), reply({}))).toMatchObject({ fate: 'lost' });
  });

  it('is carried if the upstream gets something else because of it', () => {
    expect(fateInRequest(asked({ seed: 1 }, {}), reply({ s: 1 }), reply({}))).toEqual({ fate: 'carried' });
  });

  it('is refused if the caller gets an error, or if the types of the upstream refuse the body', () => {
    const refused = { status: 400, text: '{"error":{"message":"no"}}', received: undefined };
    expect(fateInRequest(asked({ seed: 1 }, {}), refused)).toEqual({ fate: 'refused', refusal: '400 no' });
    const question = asked(
      { seed: 1 },
      {},
      { faultsIn: ({ s }) => (s === 1 ? 's is no string' : undefined) },
    );
    expect(fateInRequest(question, reply({ s: 1 }))).toMatchObject({ fate: 'refused' });
  });

  it('is dropped if an entry says so, of it or of all that it is part of', () => {
    expect(fateOf({ field: 'tools[0].x', action: 'coerced' })).toEqual({ fate: 'dropped' });
    expect(fateOf({ field: 'tools[0]', action: 'dropped' })).toEqual({ fate: 'dropped' });
    expect(fateOf({ field: 'tools', action: 'ignored' })).toEqual({ fate: 'dropped' });
  });

  it('is dropped if an entry says so, although what it is compared with arrives', () => {
    const question = asked({ a: { kind: 'gif' } }, { a: { kind: 'jpeg' } });
    const entries = [{ field: 'a', action: 'dropped' }] as const;
    expect(fateInRequest(question, reply({}, entries), reply({ a: 1 }))?.fate).toBe('dropped');
  });

  it('is lost if entries are about something else', () => {
    expect(fateOf()).toEqual({ fate: 'lost', isRewritten: false });
    expect(fateOf({ field: 'tools[0].y', action: 'dropped' })).toEqual({ fate: 'lost', isRewritten: false });
    expect(fateOf({ field: 'tools[1]', action: 'dropped' })).toEqual({ fate: 'lost', isRewritten: false });
  });

  it('is lost if something around it was rewritten, and that is noted', () => {
    expect(fateOf({ field: 'tools[0]', action: 'coerced' })).toEqual({ fate: 'lost', isRewritten: true });
  });

  it('is dropped if there is an entry about each thing in it', () => {
    const question = asked({ a: { type: 't', b: 1, c: 2 } }, {});
    const fates = [['a.b'], ['a.b', 'a.c']].map((fields) => {
      const entries = fields.map((field) => ({ field, action: 'dropped' }) as const);
      return fateInRequest(question, reply({}, entries), reply({}))?.fate;
    });
    expect(fates).toEqual(['lost', 'dropped']);
  });
});

const [upstream] = OWNERS as [(typeof OWNERS)[number]];

function outcome(more: Partial<Outcome>): Outcome {
  return { part: 'requests', format: 'chat', upstream, name: 'x', owner: '', fate: 'passed', ...more };
}

describe('what is expected', () => {
  it('fails for a member that is lost or refused without a reason', () => {
    const lost = outcome({ name: 'novelty', fate: 'lost' });
    const refused = outcome({ name: 'novelty', fate: 'refused', refusal: '400 no' });
    expect(unexpectedIn([outcome({}), lost, refused])).toEqual([
      'requests: chat and Anthropic: novelty: lost',
      'requests: chat and Anthropic: novelty: refused: 400 no',
    ]);
  });

  it('lets a reason explain what it is about, and nothing else', () => {
    const refusal = "the upstream's type: store is no boolean";
    expect(unexpectedIn([outcome({ name: 'store', fate: 'refused', refusal: '400 no' })])).toEqual([]);
    expect(unexpectedIn([outcome({ name: 'store', fate: 'refused', refusal })])).toHaveLength(1);
    expect(unexpectedIn([outcome({ name: 'store', fate: 'refused', part: 'answers' })])).toHaveLength(1);
    expect(expectedOf(outcome({ name: 'bash_1.strict', fate: 'lost' }))).toBeUndefined();
    expect(expectedOf(outcome({ name: 'bash_1.strict', fate: 'lost', isRewritten: true }))).toBeDefined();
  });
});

describe('judging many', () => {
  const tasks = [
    { way: 'w', name: 'whole', parent: undefined },
    { way: 'w', name: 'part', parent: 'whole' },
    { way: 'other', name: 'part', parent: 'whole' },
  ];

  it('sends nothing for parts of what is refused', async () => {
    const sent: string[] = [];
    const judged = await judgeEach(
      [1, 2],
      tasks,
      (_, fate) => fate === 'refused',
      async (_, { way, name }) => {
        sent.push(`${way} ${name}`);
        return { fate: name === 'whole' ? 'refused' : 'passed' };
      },
    );
    expect(sent).toEqual(['w whole', 'other part']);
    expect(judged.map(({ fate, sharedWith }) => [fate, sharedWith])).toEqual([
      ['refused', undefined],
      ['refused', 'whole'],
      ['passed', undefined],
    ]);
  });

  it('takes a whole for carried if a part is, and a value if another of its member arrives otherwise', () => {
    const of = (name: string, parent: string | undefined, more: object) => ({
      way: 'w',
      name,
      parent,
      ...more,
    });
    const judged = consistent([
      of('a', undefined, { fate: 'left out', shown: '1' }),
      of('a.b = x', 'a', { fate: 'left out', shown: '1' }),
      of('a.b = y', 'a', { fate: 'carried', shown: '2' }),
      of('c', undefined, { fate: 'dropped' }),
      of('c.d = null', 'c', { fate: 'passed' }),
      of('e = x', undefined, { fate: 'left out', shown: '1' }),
    ] as any[]);
    expect(judged.map(({ fate }: any) => fate)).toEqual([
      'carried',
      'carried',
      'carried',
      'dropped',
      'passed',
      'left out',
    ]);
  });
});
