import { describe, expect, it } from 'vitest';
import type { Tool } from '../../../ir/request.ts';
import { flatArguments, flatNames, flatToolName, freeTextOf, freeTextParameters } from './tool-names.ts';

describe('flat names', () => {
  it.each([
    ['f', undefined, 'f'],
    ['f', 'group', 'group__f'],
    ['a.b c/d', undefined, 'a_b_c_d'],
    ['x'.repeat(70), undefined, 'x'.repeat(64)],
  ])('of %s in %s', (name, namespace, flat) => {
    expect(flatToolName(name, namespace)).toBe(flat);
  });

  it('keep the end of a long name, which tells tools of one group apart', () => {
    expect(flatToolName('first', 'g'.repeat(80))).not.toBe(flatToolName('second', 'g'.repeat(80)));
  });

  it('lead back to the tool that the caller declared', () => {
    const tools: Tool[] = [
      { type: 'function', name: 'read file', namespace: { name: 'disk' } },
      { type: 'custom', name: 'patch' },
      { type: 'hosted', dialect: 'responses', kind: 'web_search', value: { type: 'web_search' } },
    ];
    const { identify } = flatNames({ tools });
    expect(identify('disk__read_file')).toEqual({ kind: 'function', name: 'read file', namespace: 'disk' });
    expect(identify('patch')).toEqual({ kind: 'custom', name: 'patch' });
    expect(identify('never_declared')).toEqual({ kind: 'function', name: 'never_declared' });
  });

  it('never belong to two tools', () => {
    const long = 'x'.repeat(70);
    const tools: Tool[] = [
      { type: 'function', name: 'a.b' },
      { type: 'function', name: 'a b' },
      { type: 'function', name: 'a_b' },
      { type: 'custom', name: 'a_b' },
      { type: 'function', name: 'b', namespace: { name: 'a' } },
      { type: 'function', name: 'a__b' },
      { type: 'function', name: `1${long}` },
      { type: 'function', name: `2${long}` },
      { type: 'hosted', dialect: 'messages', kind: 'bash_20250124', value: { name: 'bash' } },
      { type: 'function', name: 'bash' },
    ];
    const { nameOf, identify } = flatNames({ tools });
    const identities = tools.flatMap((tool) =>
      tool.type === 'hosted'
        ? []
        : [{ kind: tool.type, name: tool.name, ...(tool.namespace && { namespace: tool.namespace.name }) }],
    );
    const names = identities.map(nameOf);
    expect(new Set(names).size).toBe(identities.length);
    expect(names.map(identify)).toEqual(identities);
    expect(names.every((name) => /^[a-zA-Z0-9_-]{1,64}$/.test(name))).toBe(true);
    expect(nameOf({ kind: 'function', name: 'a_b' })).toBe('a_b');
    expect(nameOf({ kind: 'function', name: 'a__b' })).toBe('a__b');
    expect(names).not.toContain('bash');
  });

  it('are the same for a tool that is declared twice', () => {
    const tool: Tool = { type: 'function', name: 'f' };
    expect(flatNames({ tools: [tool, tool] }).nameOf({ kind: 'function', name: 'f' })).toBe('f');
  });
});

describe('free text', () => {
  it('survives as the one argument of a function', () => {
    for (const input of ['', 'a "quoted"\nline', '{"input":1}']) {
      expect(freeTextOf(flatArguments({ kind: 'custom', input }))).toBe(input);
    }
  });

  it('leaves the arguments of functions as they are', () => {
    expect(flatArguments({ kind: 'function', input: '{"broken' })).toBe('{"broken');
  });

  it.each(['plain text', '{"input":5}', '{"other":"x"}', 'null', '[]'])(
    'is everything when there is none inside: %s',
    (text) => {
      expect(freeTextOf(text)).toBe(text);
    },
  );

  it('tells the model about the grammar', () => {
    const grammar = { type: 'grammar', syntax: 'lark', definition: 'start: "x"' };
    expect(JSON.stringify(freeTextParameters({ type: 'custom', name: 'g', format: grammar }))).toContain(
      'lark',
    );
    expect(JSON.stringify(freeTextParameters({ type: 'custom', name: 'g' }))).not.toContain('Must match');
  });
});
