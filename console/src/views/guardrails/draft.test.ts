import { describe, expect, it } from 'vitest';
import {
  changesOf,
  draftOf,
  filtersOf,
  newPattern,
  problemsOf,
  refusedFields,
  withoutChanged,
} from './draft.ts';
import { marksIn } from './marks.ts';

describe('changesOf', () => {
  const stored = { ...draftOf(undefined), name: 'pii' };

  it('has nothing for an unchanged draft, and only what differs for another', () => {
    expect(changesOf({ ...stored }, stored)).toEqual({});
    expect(
      changesOf({ ...stored, limit: '5,000', reset: 'daily', ignoredModels: ['a/b', 'c/d'] }, stored),
    ).toEqual({
      limit_usd: 5000,
      reset_interval: 'daily',
      ignored_models: ['a/b', 'c/d'],
    });
  });

  it('sends all filters of a kind when one changes, and null when none is left', () => {
    const on = { ...stored, builtins: { ...stored.builtins, email: 'redact' as const } };
    expect(changesOf(on, stored)).toEqual({ content_filter_builtins: [{ slug: 'email', action: 'redact' }] });
    expect(changesOf(stored, on)).toEqual({ content_filter_builtins: null });
  });
});

describe('rules of data and services', () => {
  const stored = { ...draftOf(undefined), name: 'pii' };

  it('sends families, training and regions by themselves', () => {
    const draft = {
      ...stored,
      zeroRetention: { ...stored.zeroRetention, openai: 'yes' as const },
      paidTraining: 'no' as const,
      regions: ['europe' as const],
    };
    expect(changesOf(draft, stored)).toEqual({
      enforce_zdr_openai: true,
      enable_paid_model_training: false,
      allowed_data_regions: ['europe'],
    });
  });

  it('sends a service whole, and refuses numbers that are none', () => {
    const draft = { ...stored, serviceUrl: ' https://judge.example/v1 ', serviceWindow: '400' };
    expect(changesOf(draft, stored)).toEqual({
      service: {
        url: 'https://judge.example/v1',
        timeout_ms: 2_000,
        retries: 1,
        on_failure: 'closed',
        window_characters: 400,
      },
    });
    const wrong = { ...draft, serviceUrl: 'judge', serviceTimeoutMs: 'long', serviceWindow: '-1' };
    expect(Object.keys(problemsOf(wrong)).sort()).toEqual([
      'serviceTimeoutMs',
      'serviceUrl',
      'serviceWindow',
    ]);
    // Without an address the other fields do not count.
    expect(problemsOf({ ...wrong, serviceUrl: '' })).toEqual({});
    expect(filtersOf(wrong).service).toBeNull();
  });

  it('tries what is in the form, but for patterns that are not written yet', () => {
    const draft = {
      ...stored,
      builtins: { ...stored.builtins, email: 'block' as const },
      patterns: [newPattern(), { ...newPattern(), pattern: 'PROJ-[0-9]+' }],
    };
    expect(filtersOf(draft)).toEqual({
      content_filter_builtins: [{ slug: 'email', action: 'block' }],
      content_filters: [{ pattern: 'PROJ-[0-9]+', action: 'redact', label: null }],
      service: null,
    });
  });
});

describe('problemsOf', () => {
  it('finds an empty name, an empty pattern and an amount that is none', () => {
    const [empty, written] = [newPattern(), { ...newPattern(), pattern: 'a+' }];
    const draft = { ...draftOf(undefined), limit: 'much', patterns: [written, empty] };
    expect(Object.keys(problemsOf(draft)).sort()).toEqual(['limit', 'name', `pattern ${empty.id}`]);
    expect(problemsOf({ ...draft, name: 'x', limit: '0.5', patterns: [] })).toEqual({});
  });
});

describe('refusedFields', () => {
  const pattern = { ...newPattern(), pattern: '(?<=a)b' };
  const draft = {
    ...draftOf(undefined),
    builtins: { ...draftOf(undefined).builtins, email: 'flag' as const, 'person-name': 'block' as const },
    patterns: [{ ...newPattern(), pattern: 'a' }, pattern],
  };

  it('puts each issue at its field, pattern or built-in filter', () => {
    const refused = [
      { path: 'allowed_models[1]', message: '"a/b" is not a model; did you mean "a/c"?' },
      { path: 'content_filters[1].pattern', message: 'invalid_regex_pattern: the pattern has a lookbehind' },
      { path: 'content_filter_builtins[1].slug', message: 'person-name needs a service' },
      { path: 'service.url', message: 'the URL is not valid' },
      { path: 'service.url', message: 'is second' },
    ];
    expect(refusedFields(refused, draft)).toEqual({
      allowedModels: '"a/b" is not a model; did you mean "a/c"?',
      [`pattern ${pattern.id}`]: 'The pattern has a lookbehind.',
      'builtin person-name': 'Person-name needs a service.',
      serviceUrl: 'The URL is not valid.',
    });
  });

  it('leaves the problems of what a change does not touch', () => {
    const problems = { limit: 'no', [`pattern ${pattern.id}`]: 'no', 'builtin person-name': 'no' };
    expect(withoutChanged(problems, draft, { limit: '5' })).not.toHaveProperty('limit');
    const others = draft.patterns.map((each) => (each === pattern ? each : { ...each, pattern: 'c' }));
    expect(withoutChanged(problems, draft, { patterns: others })).toEqual(problems);
    const mended = draft.patterns.map((each) => (each === pattern ? { ...each, pattern: 'c' } : each));
    const builtins = { ...draft.builtins, 'person-name': 'off' as const };
    expect(withoutChanged(problems, draft, { patterns: mended, builtins })).toEqual({ limit: 'no' });
  });

  it('has nothing for a refusal that belongs to no field', () => {
    expect(refusedFields([], draft)).toBeUndefined();
    expect(refusedFields([{ path: 'workspace_id', message: 'is unknown' }], draft)).toBeUndefined();
  });
});

describe('marksIn', () => {
  it('cuts a text at its matches; of matches that overlap the first counts', () => {
    const match = (start: number, end: number) => ({
      start,
      end,
      action: 'redact' as const,
      engine: 'regex' as const,
    });
    expect(marksIn('hello dana@example.com', [match(6, 22), match(11, 22)])).toEqual([
      { text: 'hello ', action: null },
      { text: 'dana@example.com', action: 'redact' },
    ]);
  });

  it('marks nothing that a service found: its places are of another text', () => {
    const found = { start: 0, end: 2, action: 'block' as const, engine: 'service' as const };
    expect(marksIn('abc', [found])).toEqual([{ text: 'abc', action: null }]);
  });
});
