import { describe, expect, it } from 'vitest';
import { requestOf } from '../../../test/kit/builders/request.ts';
import type { Item, Part, Role } from '../../ir/items.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { conversationKeyOf } from './conversation-key.ts';

const SCOPE = { accountId: 'account-1', modelId: 'acme/large' };

const text = (words: string): Part => ({ type: 'text', text: words });
const message = (role: Role, ...content: Part[]): Item => ({ type: 'message', role, content });
const withItems = (...items: Item[]) => requestOf({ items });
const named = (sessionId?: string, promptCacheKey?: string) =>
  requestOf({
    wishes: { provider: {}, plugins: [], ...(sessionId !== undefined && { sessionId }) },
    ...(promptCacheKey !== undefined && { promptCacheKey }),
  });

function keyOf(request: GenerationRequest, scope: Partial<Parameters<typeof conversationKeyOf>[1]> = {}) {
  const told = conversationKeyOf(request, { ...SCOPE, ...scope });
  return told && { key: told.key, kind: told.kind };
}

describe('the key of a conversation that has a name', () => {
  it('is the session id of the body, else of the header, else the cache key', () => {
    const session = keyOf(named('s1', 'c1'), { sessionHeader: 's2' });
    expect(session?.kind).toBe('explicit');
    expect(keyOf(named('s1'))).toEqual(session);
    expect(keyOf(named(undefined, 'c1'), { sessionHeader: 's1' })).toEqual(session);
    expect(keyOf(named(undefined, 'c1'), { sessionHeader: 's2' })).not.toEqual(session);
    expect(keyOf(named(undefined, 's1'))).not.toEqual(session);
    expect(keyOf(named(undefined, 's1'))?.kind).toBe('explicit');
  });

  it('takes an empty name for none', () => {
    expect(keyOf(named('', ''), { sessionHeader: '' })?.kind).toBe('opening');
  });

  it('differs by account and model', () => {
    const keys = [
      keyOf(named('s1')),
      keyOf(named('s1'), { accountId: 'account-2' }),
      keyOf(named('s1'), { modelId: 'acme/small' }),
      // Account and model run together to the same text.
      keyOf(named('s1'), { accountId: 'account-1acme', modelId: '/large' }),
    ].map((key) => key?.key);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('has the same size whatever the name', () => {
    for (const name of ['a', 'b'.repeat(256)]) expect(keyOf(named(name))?.key).toHaveLength(43);
  });
});

describe('the key of a conversation without a name', () => {
  const opening = [message('system', text('Be brief.')), message('user', text('Hello'))];
  const more = [message('assistant', text('Hi')), message('user', text('And now?'))];

  it('stays the same while the conversation goes on', () => {
    expect(keyOf(withItems(...opening, ...more))).toEqual(keyOf(withItems(...opening)));
    expect(keyOf(withItems(...opening))?.kind).toBe('opening');
  });

  const others: [string, Item[]][] = [
    ['other instructions', [message('system', text('Be long.')), message('user', text('Hello'))]],
    ['no instructions', [message('user', text('Hello'))]],
    ['another first message', [message('system', text('Be brief.')), message('user', text('Hello!'))]],
    ['another role', [message('system', text('Be brief.')), message('assistant', text('Hello'))]],
    ['text cut elsewhere', [message('system', text('Be '), text('brief.')), message('user', text('Hello'))]],
    [
      'a picture more',
      [
        message('system', text('Be brief.')),
        message('user', text('Hello'), {
          type: 'image',
          source: { kind: 'url', url: 'https://example.com/a.png' },
        }),
      ],
    ],
  ];
  it.each(others)('is another with %s', (_, items) => {
    expect(keyOf(withItems(...items))).not.toEqual(keyOf(withItems(...opening)));
  });

  it('distinguishes images by the beginning of their data', () => {
    const picture = (data: string) =>
      keyOf(
        withItems(
          message('user', { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data } }),
        ),
      );
    expect(picture('A'.repeat(9000))).not.toEqual(picture('B'.repeat(9000)));
    expect(picture(`${'A'.repeat(9000)}1`)).toEqual(picture(`${'A'.repeat(9000)}2`));
  });

  it('accepts conversations that begin with a tool call', () => {
    const result: Item = { type: 'tool-result', kind: 'function', callId: 'c', content: [text('42')] };
    expect(keyOf(withItems(result))?.kind).toBe('opening');
  });

  it('is undefined if nothing identifies the conversation', () => {
    expect(keyOf(withItems({ type: 'reasoning', text: ['hm'], summary: [] }))).toBeUndefined();
    expect(keyOf(withItems())).toBeUndefined();
  });

  it('costs no more for a prompt of 30 megabytes', () => {
    const huge = withItems(
      message('system', text('a'.repeat(15_000_000))),
      message('user', ...Array.from({ length: 100_000 }, () => text('b'.repeat(150)))),
    );
    const times = Array.from({ length: 10 }, () => {
      const started = performance.now();
      keyOf(huge);
      return performance.now() - started;
    });
    expect(Math.min(...times)).toBeLessThan(5);
  });
});
