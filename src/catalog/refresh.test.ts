import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type CatalogDocument,
  type DocumentEndpoint,
  type DocumentModel,
  documentIssues,
} from './catalog-document.ts';
import { type KnownModels, modelsOf } from './known-model.ts';
import { mergeModels } from './merge-models.ts';
import { applyOverlay, NO_OVERLAY, overlayBetween, parseOverlay, renderOverlay } from './overlay.ts';
import { refresh } from './refresh.ts';

const NOW = Date.parse('2026-11-15T10:00:00Z');

function documentOf(asOf: string, ...models: DocumentModel[]): CatalogDocument {
  return { as_of: asOf, source: 'test', models };
}

function knownOf(document: CatalogDocument): KnownModels {
  return mergeModels(new Map(), modelsOf(document));
}

function gpt(prompt: string, more: Partial<DocumentEndpoint> = {}): DocumentModel {
  return {
    id: 'openai/gpt',
    context_length: 1000,
    endpoints: [{ provider: 'openai', model: 'gpt', tag: 'openai', pricing: { prompt }, ...more }],
  };
}

const known = knownOf(documentOf('2026-11-02', gpt('0.000002')));
const keep = { prune: false, nowMs: NOW };

function pricesOf(models: KnownModels) {
  const endpoint = models.get('openai/gpt')?.endpoints[0];
  return [endpoint?.pricing, ...(endpoint?.prices ?? []).map(({ from, pricing }) => [from, pricing])];
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

  it('lets a price that is told for a day already priced begin now', () => {
    const first = refresh(known, documentOf('2026-11-10', gpt('0.000001')), keep).models;
    const second = refresh(first, documentOf('2026-11-10', gpt('0.000005')), keep).models;
    expect(pricesOf(second).slice(1)).toEqual([
      ['2026-11-10', { prompt: '0.000001' }],
      ['2026-11-15T10:00:00.000Z', { prompt: '0.000005' }],
    ]);
    expect(refresh(second, documentOf('2026-11-10', gpt('0.000005')), keep).isChanged).toBe(false);
  });

  it('does not take back an announced price that has come true', () => {
    const prices = [{ from: '2026-11-12', pricing: { prompt: '0.000007' } }];
    const announced = refresh(known, documentOf('2026-11-05', gpt('0.000002', { prices })), keep).models;
    const later = refresh(announced, documentOf('2026-11-06', gpt('0.000002')), keep);
    expect(pricesOf(later.models)).toEqual([{ prompt: '0.000002' }, ['2026-11-12', { prompt: '0.000007' }]]);
    expect(later.differences).toEqual([]);
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

  it('tells what is added and changed, member by member, and keeps what the data do not speak of', () => {
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

  it('forgets what is gone only when it is told to, and only of the providers that the data speak of', () => {
    const two = knownOf(
      documentOf('2026-11-02', gpt('0.1'), {
        id: 'x/other',
        endpoints: [
          { provider: 'groq', model: 'o', tag: 'groq', pricing: {} },
          { provider: 'openai', model: 'o', tag: 'openai', pricing: {} },
        ],
      }),
    );
    const document = documentOf('2026-11-10', { ...gpt('0.1'), id: 'openai/new' });
    expect([...refresh(two, document, keep).models.keys()]).toEqual(['openai/gpt', 'x/other', 'openai/new']);
    const pruned = refresh(two, document, { ...keep, prune: true });
    expect([...pruned.models.keys()]).toEqual(['x/other', 'openai/new']);
    expect(pruned.models.get('x/other')?.endpoints.map(({ tag }) => tag)).toEqual(['groq']);
  });
});

describe('the overlay', () => {
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

  it.each([
    '',
    '[]',
    '{"models":[]}',
    '{"as_of":"2026-11-10","source":"x","models":[{"id":1}],"removed":[]}',
  ])('is refused when it is broken: %s', (text) => {
    expect(parseOverlay(text).ok).toBe(false);
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
  const document = fc
    .uniqueArray(fc.tuple(fc.constantFrom('openai/a', 'openai/b', 'openai/c'), endpoint, fc.nat(3)), {
      selector: ([id]) => id,
      maxLength: 3,
    })
    .chain((rows) =>
      day.map((asOf) =>
        documentOf(
          asOf,
          ...rows.map(([id, way, size]) => ({ id, context_length: size + 1, endpoints: [way] })),
        ),
      ),
    );

  it('the same data twice change nothing, and what is stored is what was merged', () => {
    fc.assert(
      fc.property(document, document, document, fc.boolean(), (shippedData, before, data, prune) => {
        const shipped = knownOf(shippedData);
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
      'models[0].endpoints[0].pricing.prompt: must be an exact decimal in quotes, for example "0.000001"',
    ],
    [
      'no price for what is written',
      documentOf('2026-11-02', { id: 'a/b', endpoints: [{ ...way, pricing: { prompt: '1' } }] }),
      'models[0].endpoints[0].pricing.completion: is required',
    ],
    [
      'an unknown provider',
      documentOf('2026-11-02', { id: 'a/b', endpoints: [{ ...way, provider: 'acme', tag: 'acme' }] }),
      'models[0].endpoints[0].provider: is not in the table of providers',
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
  ])('%s', (_, value, issue) => {
    expect(issuesOf(value)).toEqual([issue]);
  });
});
