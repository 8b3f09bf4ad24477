import { describe, expect, it } from 'vitest';
import { sectionsOf, sourceText, valueText } from './value-words.ts';

const SOURCE = { kind: 'default', line: null, variables: [], flag: null } as const;

describe('sourceText', () => {
  it('names the line, the variables or the flag', () => {
    expect(sourceText({ ...SOURCE, variables: [] })).toBe('default');
    expect(sourceText({ ...SOURCE, kind: 'file', line: 12, variables: [] })).toBe('line 12');
    expect(sourceText({ ...SOURCE, kind: 'flag', flag: '--port', variables: [] })).toBe('--port');
    expect(sourceText({ ...SOURCE, kind: 'environment', line: 3, variables: ['A', 'B'] })).toBe(
      'A, B, line 3',
    );
  });
});

describe('valueText', () => {
  it.each([
    ['server.region', 'local', 'local'],
    ['server.tls', null, '–'],
    ['server.trusted_proxies', [], 'none'],
    ['egress.allow', ['10.0.0.0/8'], '["10.0.0.0/8"]'],
    ['runtime.port', 8787, '8787'],
    ['providers[0].timeouts_ms.first_byte', 120_000, '120 s'],
    ['routing.cooldown.max_ms', 300_000, '5 min'],
    ['server.request_deadline_ms', 7_200_000, '2 h'],
    ['durability.checkpoint_ms', 250, '250 ms'],
    ['server.max_body_bytes', 33_554_432, '32 MiB'],
    ['tools.limits.read_bytes', 5_000_000, '5 MB'],
    ['limits.large_bodies_bytes', 1_000, '1000 B'],
    ['retention.events_days', 400, '400 days'],
    ['drain_ms', 0, '0 ms'],
  ])('of %s, %j, is %s', (key, value, text) => expect(valueText({ key, value })).toBe(text));
});

describe('sectionsOf', () => {
  it('has the values of each part together, and calls entries of lists by their names', () => {
    const values = [
      ['server.region', 'local'],
      ['vendor', 'signalbox'],
      ['providers[0].slug', 'simulator'],
      ['providers[0].headers', {}],
      ['models[3].context_length', 9],
      ['server.workers', 1],
      ['drain_ms', 0],
    ].map(([key, value]) => ({ key: String(key), value, source: { ...SOURCE, variables: [] } }));
    const found = sectionsOf(values).map(({ title, prefix, values: own }) => [title, prefix, own.length]);
    expect(found).toEqual([
      ['Server', 'server.', 2],
      ['General', '', 2],
      ['Provider simulator', 'providers[0].', 2],
      ['Model 3', 'models[3].', 1],
    ]);
  });
});
