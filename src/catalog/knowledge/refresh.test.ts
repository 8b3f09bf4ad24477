import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runAtOnce, type Sliced } from '../../kit/loop/turns.ts';
import type { CatalogDocument, DocumentEndpoint, DocumentModel } from './catalog-document.ts';
import * as document from './catalog-document.ts';
import { type KnownModels, modelsOf } from './known-model.ts';
import { mergeModels } from './merge-models.ts';
import * as overlays from './overlay.ts';
import { NO_OVERLAY } from './overlay.ts';
import * as refreshing from './refresh.ts';

const atOnce =
  <Input extends unknown[], Output>(work: (...input: Input) => Sliced<Output>) =>
  (...input: Input) =>
    runAtOnce(work(...input));

const documentIssues = atOnce(document.documentIssues);
const applyOverlay = atOnce(overlays.applyOverlay);
const overlayBetween = atOnce(overlays.overlayBetween);
const parseOverlay = atOnce(overlays.parseOverlay);
const renderOverlay = atOnce(overlays.renderOverlay);
const refresh = atOnce(refreshing.refresh);

const NOW = Date.parse('2026-11-15T10:00:00Z');

function documentOf(asOf: string, ...models: DocumentModel[]): CatalogDocument {
  return { as_of: asOf, source: 'test', models };
}

function knownOf(document: CatalogDocument): KnownModels {
  return mergeModels(new Map(), modelsOf(document));
}

function priceOf(prompt: string) {
  return { prompt, completion: '0' };
}

function gpt(prompt: string, more: Partial<DocumentEndpoint> = {}): DocumentModel {
  return {
    id: 'openai/gpt',
    context_length: 1000,
    endpoints: [{ provider: 'openai', model: 'gpt', tag: 'openai', pricing: priceOf(prompt), ...more }],
  };
}

const known = knownOf(documentOf('2026-11-02', gpt('0.000002')));
const keep = { prune: false, nowMs: NOW };

function pricesOf(models: KnownModels) {
  const endpoint = models.get('openai/gpt')?.endpoints[0];
  const usual = { prompt: endpoint?.pricing?.prompt };
  return [usual, ...(endpoint?.prices ?? []).map(({ from, pricing: { prompt } }) => [from, { prompt }])];
}

describe('refresh', () => {
  it('changes nothing with what is known', () => {
    expect(refresh(known, documentOf('2026-11-02', gpt('0.000002')), keep)).toMatchObject({
      isChanged: false,
      differences: [],
    });
  });

  it('keeps the old price with its time: the new one begins on the day of the data', () => {
    const { models, differences } = refresh(known, documentOf('2026-11-10', gpt('0.000001')), keep);
    expect(pricesOf(models)).toEqual([{ prompt: '0.000002' }, ['2026-11-10', { prompt: '0.000001' }]]);
    expect(differences).toEqual([
      {
        kind: 'price',
        model: 'openai/gpt',
        tag: 'openai',
        member: 'prompt',
        old: '0.000002',
        new: '0.000001',
        from: '2026-11-10',
      },
    ]);
  });

  it('lets a price for a day that already has one begin now', () => {
    const first = refresh(known, documentOf('2026-11-10', gpt('0.000001')), keep).models;
    const second = refresh(first, documentOf('2026-11-10', gpt('0.000005')), keep).models;
    expect(pricesOf(second).slice(1)).toEqual([
      ['2026-11-10', { prompt: '0.000001' }],
      ['2026-11-15T10:00:00.000Z', { prompt: '0.000005' }],
    ]);
    expect(refresh(second, documentOf('2026-11-10', gpt('0.000005')), keep).isChanged).toBe(false);
  });

  it('lets the second price of a day begin now, also where the first was always the price', () => {
    const [first, second] = ['0.000002', '0.000001'].map((prompt) => documentOf('2026-11-15', gpt(prompt)));
    for (const before of [new Map(), known]) {
      const once = refresh(before, first as CatalogDocument, keep).models;
      const nowMs = NOW + 60_000;
      const twice = refresh(once, second as CatalogDocument, { prune: false, nowMs }).models;
      expect(pricesOf(twice)).toEqual([
        { prompt: '0.000002' },
        ['2026-11-15T10:01:00.000Z', { prompt: '0.000001' }],
      ]);
      expect(refresh(twice, second as CatalogDocument, keep).isChanged).toBe(false);
    }
  });

  it('lets a price that was corrected on one day be put back on the same day', () => {
    let models = known;
    for (const [hour, prompt] of [
      ['10', '0.000001'],
      ['11', '0.000005'],
      ['12', '0.000001'],
      ['13', '0.000005'],
    ] as const) {
      const nowMs = Date.parse(`2026-11-15T${hour}:00:00Z`);
      const data = documentOf('2026-11-15', gpt(prompt));
      const { models: next, isChanged } = refresh(models, data, { prune: false, nowMs });
      expect(isChanged).toBe(true);
      expect(refresh(next, data, { prune: false, nowMs: nowMs + 1000 }).isChanged).toBe(false);
      models = next;
    }
    expect(pricesOf(models)).toEqual([
      { prompt: '0.000002' },
      ['2026-11-15', { prompt: '0.000001' }],
      ['2026-11-15T11:00:00.000Z', { prompt: '0.000005' }],
      ['2026-11-15T12:00:00.000Z', { prompt: '0.000001' }],
      ['2026-11-15T13:00:00.000Z', { prompt: '0.000005' }],
    ]);
  });

  it('does not remove an announced price that has begun', () => {
    const prices = [{ from: '2026-11-12', pricing: priceOf('0.000007') }];
    const announced = refresh(known, documentOf('2026-11-05', gpt('0.000002', { prices })), keep).models;
    const later = refresh(announced, documentOf('2026-11-06', gpt('0.000002')), keep);
    expect(pricesOf(later.models)).toEqual([{ prompt: '0.000002' }, ['2026-11-12', { prompt: '0.000007' }]]);
    expect(later.differences).toEqual([]);
  });

  describe('of a history', () => {
    const daysAgo = (days: number) => new Date(NOW - days * 86_400_000).toISOString().slice(0, 10);
    const dated = (days: readonly number[]) =>
      days.map((count) => ({ from: daysAgo(count), pricing: priceOf(`0.${count}`) }));
    const daysOf = (models: KnownModels) =>
      pricesOf(models)
        .slice(1)
        .map((price) => (Array.isArray(price) ? price[0] : price));

    it('forgets, when a price is added, those that ended more than 400 days ago', () => {
      const days = [900, 700, 500, 399, 100];
      const old = knownOf(documentOf(daysAgo(50), gpt('0.000002', { prices: dated(days) })));
      const { models } = refresh(old, documentOf(daysAgo(1), gpt('0.000009')), keep);
      // The price of 500 days ago held until 399 days ago.
      expect(daysOf(models)).toEqual([500, 399, 100, 1].map(daysAgo));
      expect(pricesOf(models)[0]).toEqual({ prompt: '0.000002' });
      expect(refresh(models, documentOf(daysAgo(1), gpt('0.000009')), keep).isChanged).toBe(false);
    });

    it('removes none if no price is added, and none that the data contain', () => {
      const days = [900, 700, 500];
      const old = knownOf(documentOf(daysAgo(50), gpt('0.000002', { prices: dated(days) })));
      expect(daysOf(refresh(old, documentOf(daysAgo(1), gpt('0.500')), keep).models)).toEqual(
        days.map(daysAgo),
      );
      const told = documentOf(daysAgo(1), gpt('0.000002', { prices: dated([900, 800, 700, 600]) }));
      const { models } = refresh(old, told, keep);
      expect(daysOf(models)).toEqual([900, 800, 700, 600].map(daysAgo));
      expect(refresh(models, told, { ...keep, nowMs: NOW + 1e10 }).isChanged).toBe(false);
    });
  });

  it('keeps models of the data that have facts alone, or only an id', () => {
    const data = documentOf('2026-11-10', { id: 'a/facts', context_length: 1 }, { id: 'a/none' });
    const { models, isChanged } = refresh(known, data, keep);
    expect(isChanged).toBe(true);
    expect(refresh(models, data, keep)).toMatchObject({ isChanged: false, differences: [] });
  });

  it('keeps a model of the data when its last endpoint is pruned', () => {
    const data = documentOf(
      '2026-11-10',
      { id: 'openai/gpt', context_length: 1000 },
      { ...gpt('0.1'), id: 'openai/new' },
    );
    const prune = { ...keep, prune: true };
    const { models } = refresh(known, data, prune);
    expect(models.get('openai/gpt')).toMatchObject({ context_length: 1000, endpoints: [] });
    expect(refresh(models, data, prune)).toMatchObject({ isChanged: false, differences: [] });
  });

  it('leaves alone what is known from a later day', () => {
    const { models, differences, isChanged } = refresh(
      known,
      documentOf('2026-10-01', gpt('0.000009')),
      keep,
    );
    expect([isChanged, pricesOf(models)]).toEqual([false, [{ prompt: '0.000002' }]]);
    expect(differences).toEqual([{ kind: 'outdated', model: 'openai/gpt', tag: 'openai' }]);
  });

  it('lists what is added and changed, member by member, and keeps what is not in the data', () => {
    const { differences, models } = refresh(
      known,
      documentOf(
        '2026-11-10',
        { id: 'openai/gpt', context_length: 2000, name: 'GPT' },
        { ...gpt('0.1'), id: 'openai/new' },
      ),
      keep,
    );
    expect(differences).toEqual([
      { kind: 'model-changed', model: 'openai/gpt', member: 'context_length', old: 1000, new: 2000 },
      { kind: 'model-changed', model: 'openai/gpt', member: 'name', old: null, new: 'GPT' },
      { kind: 'model-added', model: 'openai/new' },
      { kind: 'endpoint-added', model: 'openai/new', tag: 'openai' },
      { kind: 'gone', model: 'openai/gpt', tag: 'openai', pruned: false },
    ]);
    expect(models.get('openai/gpt')?.endpoints).toHaveLength(1);
  });

  it('removes endpoints only with prune, and only those of providers in the data', () => {
    const two = knownOf(
      documentOf('2026-11-02', gpt('0.1'), {
        id: 'x/other',
        endpoints: [
          { provider: 'groq', model: 'o', tag: 'groq', pricing: {} },
          { provider: 'openai', model: 'o', tag: 'openai', pricing: {} },
        ],
      }),
    );
    const data = documentOf('2026-11-10', { ...gpt('0.1'), id: 'openai/new' });
    expect([...refresh(two, data, keep).models.keys()]).toEqual(['openai/gpt', 'x/other', 'openai/new']);
    const pruned = refresh(two, data, { ...keep, prune: true });
    expect([...pruned.models.keys()]).toEqual(['x/other', 'openai/new']);
    expect(pruned.models.get('x/other')?.endpoints.map(({ tag }) => tag)).toEqual(['groq']);
  });
});

describe('the overlay', () => {
  const way = { provider: 'openai', model: 'm', tag: 'openai', pricing: priceOf('0.1') };
  const restored = (models: KnownModels, asOf = '2026-11-10') => {
    const reading = parseOverlay(renderOverlay(overlayBetween(known, models, NO_OVERLAY, asOf), asOf));
    if (!reading.ok) throw new Error(reading.problem);
    return reading.overlay;
  };

  it('gives back what was brought in, over what ships', () => {
    const change = documentOf('2026-11-10', gpt('0.000001'), { ...gpt('0.1'), id: 'openai/new' });
    const { models } = refresh(known, change, keep);
    expect(applyOverlay(known, restored(models))).toEqual(models);
  });

  it('holds nothing of what ships as it is', () => {
    expect(overlayBetween(known, known, NO_OVERLAY, '2026-11-10')).toEqual(NO_OVERLAY);
  });

  it('remembers what was forgotten, until younger data ship', () => {
    const pruned = refresh(known, documentOf('2026-11-10', { ...gpt('0.1'), id: 'openai/new' }), {
      ...keep,
      prune: true,
    });
    const overlay = restored(pruned.models);
    expect([...applyOverlay(known, overlay).keys()]).toEqual(['openai/new']);
    const younger = knownOf(documentOf('2026-12-01', gpt('0.000002')));
    expect([...applyOverlay(younger, overlay).keys()]).toEqual(['openai/gpt', 'openai/new']);
  });

  it('yields to what ships later, and keeps the prices of the time between', () => {
    const overlay = restored(refresh(known, documentOf('2026-11-10', gpt('0.000001')), keep).models);
    const younger = knownOf(documentOf('2026-12-01', gpt('0.000002')));
    expect(pricesOf(applyOverlay(younger, overlay))).toEqual([
      { prompt: '0.000002' },
      ['2026-11-10', { prompt: '0.000001' }],
      ['2026-12-01', { prompt: '0.000002' }],
    ]);
  });

  it('keeps a model without endpoints, and one whose last endpoint was pruned although it is spoken of', () => {
    const data = documentOf(
      '2026-11-02',
      { id: 'openai/gpt', context_length: 1000 },
      { id: 'a/facts', context_length: 1 },
      { ...gpt('0.1'), id: 'openai/new' },
    );
    const { models } = refresh(known, data, { ...keep, prune: true });
    const again = applyOverlay(known, restored(models, '2026-11-02'));
    expect([...again.keys()]).toEqual(['openai/gpt', 'a/facts', 'openai/new']);
    expect(refresh(again, data, { ...keep, prune: true }).isChanged).toBe(false);
  });

  it('holds longer lists than data that are brought in', () => {
    const prices = Array.from({ length: 300 }, (_, index) => ({
      from: new Date(NOW - (300 - index) * 1000).toISOString(),
      pricing: priceOf(`0.${index}`),
    }));
    const endpoints = Array.from({ length: 300 }, (_, index) => ({
      ...way,
      tag: `openai/t${index}`,
    }));
    const models = knownOf(documentOf('2026-11-10', gpt('0.1', { prices }), { id: 'a/many', endpoints }));
    expect(restored(models).models.map(({ endpoints: { length } }) => length)).toEqual([1, 300]);
  });

  it('may hold more values than a document, up to a limit', () => {
    const aliases = Array.from({ length: 64 }, (_, index) => `a/${index}`);
    const models = Array.from({ length: 4_000 }, (_, index) => ({
      id: `b/${index}`,
      as_of: '2026-11-10',
      source: 's',
      aliases,
      endpoints: [],
    }));
    expect(parseOverlay(renderOverlay({ models, removed: [] }, '2026-11-10')).ok).toBe(true);
    expect(parseOverlay(`{"models":[${'0,'.repeat(1_000_000)}0]}`)).toEqual({
      ok: false,
      problem: 'cannot be read: models holds more than 1000000 values',
    });
  });

  it('may be of days to come, of an unknown provider, and give one alias twice', () => {
    const gone = { ...way, provider: 'acme', tag: 'acme', as_of: '2999-01-01' };
    const models = [
      { id: 'a/b', aliases: ['x'], endpoints: [gone] },
      { id: 'a/c', aliases: ['x'] },
    ];
    const text = JSON.stringify({ as_of: '2999-01-01', source: 'x', models, removed: [] });
    expect(parseOverlay(text).ok).toBe(true);
  });

  const endpoint = (changes: object) => ({ models: [{ id: 'a/b', endpoints: [{ ...way, ...changes }] }] });
  it.each<[string, string | object]>([
    ['cannot be read: not valid JSON', ''],
    ['cannot be read: nested deeper than 64 levels', '['.repeat(65)],
    ['is not a stored catalogue: must be an object', '[]'],
    ['is not a stored catalogue: as_of is required', '{"models":[]}'],
    ['is not a stored catalogue: models[0].home must be 1 to 64', { models: [{ id: 'a/b', home: 1 }] }],
    ['is not a stored catalogue: as_of is not in the calendar', { as_of: '2026-02-30' }],
    [
      'is not a stored catalogue: models[0].as_of is not in the calendar',
      { models: [{ id: 'a/b', as_of: '2026-13-01' }] },
    ],
    [
      'is not a stored catalogue: models[0].endpoints[0].prices[0].from is not in the calendar',
      endpoint({ prices: [{ from: '2026-02-30', pricing: priceOf('1') }] }),
    ],
    [
      'is not a stored catalogue: models[0].endpoints[0].prices[1].from must come after the one before it',
      endpoint({ prices: ['2026-02-02', '2026-02-01'].map((from) => ({ from, pricing: priceOf('1') })) }),
    ],
    [
      'is not a stored catalogue: models[0].endpoints[0].pricing.prompt is required',
      endpoint({ pricing: { prompt: null, completion: '0' } }),
    ],
    [
      'is not a stored catalogue: models[1].id is already used at models[0].id',
      { models: [{ id: 'a/b' }, { id: 'a/b' }] },
    ],
    [
      'is not a stored catalogue: models[0].endpoints[1].tag is already used at models[0].endpoints[0].tag',
      { models: [{ id: 'a/b', endpoints: [way, way] }] },
    ],
    ['is not a stored catalogue: removed must be an array', { removed: undefined }],
    [
      'is not a stored catalogue: removed[0].as_of must be a day such as 2026-05-01',
      { removed: [{ id: 'a/b', tag: 'openai', as_of: 'zzz' }] },
    ],
    [
      'is not a stored catalogue: removed[0].as_of is not in the calendar',
      { removed: [{ id: 'a/b', tag: 'openai', as_of: '2026-02-30' }] },
    ],
  ])('%s', (problem, broken) => {
    const whole = { as_of: '2026-11-10', source: 'x', models: [], removed: [] };
    const text = typeof broken === 'string' ? broken : JSON.stringify({ ...whole, ...broken });
    expect(parseOverlay(text)).toEqual({ ok: false, problem: expect.stringContaining(problem) });
  });
});

describe('laws', () => {
  const price = fc.constantFrom('0.1', '0.2', '0.3').map((prompt) => ({ prompt }));
  const day = fc.constantFrom('2026-10-01', '2026-11-02', '2026-11-10', '2026-11-15');
  const dated = fc.uniqueArray(fc.record({ from: day, pricing: price }), {
    selector: ({ from }) => from,
    maxLength: 3,
  });
  const endpoint = fc.record({ pricing: price, prices: dated, as_of: day }).map(({ prices, ...rest }) => ({
    provider: 'openai',
    model: 'm',
    tag: 'openai',
    ...rest,
    ...(prices.length > 0 && { prices: prices.sort((a, b) => (a.from < b.from ? -1 : 1)) }),
  }));
  const anyDocument = fc
    .uniqueArray(
      fc.tuple(fc.constantFrom('openai/a', 'openai/b', 'openai/c'), fc.option(endpoint), fc.nat(3)),
      {
        selector: ([id]) => id,
        maxLength: 3,
      },
    )
    .chain((rows) =>
      day.map((asOf) =>
        documentOf(
          asOf,
          ...rows.map(([id, way, size]) => ({
            id,
            ...(size > 0 && { context_length: size }),
            ...(way !== null && { endpoints: [way] }),
          })),
        ),
      ),
    );

  it('the same data twice change nothing, and what is stored is what was merged', () => {
    fc.assert(
      fc.property(anyDocument, anyDocument, anyDocument, fc.boolean(), (shippedData, before, data, prune) => {
        // Shipped models always have an endpoint.
        const served = shippedData.models.filter(({ endpoints }) => endpoints !== undefined);
        const shipped = knownOf({ ...shippedData, models: served });
        const start = refresh(shipped, before, { prune: false, nowMs: NOW }).models;
        const once = refresh(start, data, { prune, nowMs: NOW }).models;
        const twice = refresh(once, data, { prune, nowMs: NOW + 1000 });
        expect(twice.isChanged).toBe(false);
        const overlay = overlayBetween(shipped, once, NO_OVERLAY, data.as_of);
        // What was removed stays away only while nothing younger ships.
        if (overlay.removed.length === 0) {
          expect(isDeepStrictEqual(new Map(applyOverlay(shipped, overlay)), new Map(once))).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('documentIssues', () => {
  const issuesOf = (value: unknown) =>
    documentIssues(value, NOW).map(({ path, message }) => `${path}: ${message}`);
  const pricing = { prompt: '0', completion: '0' };
  const way = { provider: 'openai', model: 'm', tag: 'openai', pricing };

  it.each<[string, unknown, string]>([
    ['no object', [], ': must be an object'],
    ['no day', { source: 'x', models: [] }, 'as_of: is required'],
    ['a day that is none', documentOf('2026-02-30'), 'as_of: is not in the calendar'],
    ['a day to come', documentOf('2027-01-01'), 'as_of: is a day that has not come yet'],
    ['a strange member', { ...documentOf('2026-11-02'), x: 1 }, 'x: is not a known field'],
    [
      'a number for a price',
      documentOf('2026-11-02', { id: 'a/b', endpoints: [{ ...way, pricing: { ...pricing, prompt: 0.1 } }] }),
      'models[0].endpoints[0].pricing.prompt: must be an exact decimal in quotes, for example "0.000001", of at most 1000 USD',
    ],
    [
      'no price for what is written',
      documentOf('2026-11-02', { id: 'a/b', endpoints: [{ ...way, pricing: { prompt: '1' } }] }),
      'models[0].endpoints[0].pricing.completion: is required',
    ],
    [
      'an unknown provider',
      documentOf('2026-11-02', { id: 'a/b', endpoints: [{ ...way, provider: 'acme', tag: 'acme' }] }),
      'models[0].endpoints[0].provider: "acme" is not in the table of providers',
    ],
    [
      'the tag of another',
      documentOf('2026-11-02', { id: 'a/b', endpoints: [{ ...way, tag: 'groq' }] }),
      'models[0].endpoints[0].tag: must begin with the slug of the provider',
    ],
    [
      'a tag twice',
      documentOf('2026-11-02', { id: 'a/b', endpoints: [way, way] }),
      'models[0].endpoints[1].tag: is already used at models[0].endpoints[0].tag',
    ],
    [
      'a name twice',
      documentOf('2026-11-02', { id: 'a/b' }, { id: 'a/c', aliases: ['a/b'] }),
      'models[1].aliases[0]: is already used at models[0].id',
    ],
    [
      'a parameter that is none',
      documentOf('2026-11-02', { id: 'a/b', endpoints: [{ ...way, supported_parameters: ['heat'] }] }),
      'models[0].endpoints[0].supported_parameters[0]: is not the name of a parameter',
    ],
    [
      'prices out of order',
      documentOf('2026-11-02', {
        id: 'a/b',
        endpoints: [
          {
            ...way,
            prices: [
              { from: '2026-05-01', pricing },
              { from: '2026-05-01', pricing },
            ],
          },
        ],
      }),
      'models[0].endpoints[0].prices[1].from: must come after the one before it',
    ],
    [
      'a length below nothing',
      documentOf('2026-11-02', { id: 'a/b', context_length: -1 }),
      'models[0].context_length: must be >= 1',
    ],
    [
      'a model of the simulator',
      documentOf('2026-11-02', { id: 'simulator/standard', name: 'Mine' }),
      'models[0].id: the simulator is built in: data cannot change it',
    ],
    [
      'an endpoint of the simulator',
      documentOf('2026-11-02', {
        id: 'a/b',
        endpoints: [{ ...way, provider: 'simulator', tag: 'simulator' }],
      }),
      'models[0].endpoints[0].provider: the simulator is built in: data cannot change it',
    ],
    [
      'an effort that is none',
      documentOf('2026-11-02', {
        id: 'a/b',
        reasoning: { mandatory: true, supported_efforts: ['none'] as never },
      }),
      'models[0].reasoning.supported_efforts[0]: must be one of "minimal", "low", "medium", "high", "xhigh", "max"',
    ],
    [
      'a cut-off that is in no calendar',
      documentOf('2026-11-02', { id: 'a/b', knowledge_cutoff: '2026-13' }),
      'models[0].knowledge_cutoff: is not in the calendar',
    ],
  ])('%s', (_, value, issue) => {
    expect(issuesOf(value)).toEqual([issue]);
  });

  it('reports an unknown provider together with problems of the form', () => {
    const endpoint = { ...way, provider: 'acme', tag: 'acme', pricing: { prompt: 1 } };
    expect(issuesOf({ as_of: '2026-11-02', models: [{ id: 'a/b', endpoints: [endpoint, 7] }, 7] })).toEqual(
      expect.arrayContaining([
        'source: is required',
        'models[0].endpoints[0].provider: "acme" is not in the table of providers',
      ]),
    );
  });
});
