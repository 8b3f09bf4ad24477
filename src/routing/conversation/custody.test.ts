import { describe, expect, it } from 'vitest';
import { endpointOf, providerOf } from '../../../test/kit/builders/catalog.ts';
import { requestOf } from '../../../test/kit/builders/request.ts';
import type { Provider } from '../../catalog/catalog.ts';
import type { Format, Item, ReasoningItem, ToolCallItem } from '../../ir/items.ts';
import { custodyOf } from './custody.ts';

const DIALECTS: Provider['dialect'][] = ['responses', 'messages', 'chat', 'gemini', 'bedrock', 'simulator'];

const thoughts = (seal: Partial<ReasoningItem>): Item => ({
  type: 'reasoning',
  text: ['hm'],
  summary: [],
  ...seal,
});
const call = (seal: Partial<ToolCallItem>): Item => ({
  type: 'tool-call',
  kind: 'function',
  callId: 'call-1',
  name: 'now',
  input: '{}',
  ...seal,
});
const said: Item = { type: 'message', role: 'user', content: [{ type: 'text', text: 'Go on' }] };

/** Dialects whose endpoints keep custody; undefined when there is nothing to keep. */
function keepers(items: Item[], format: Format = 'messages'): string[] | undefined {
  const keeps = custodyOf(requestOf({ items, format }));
  return keeps && DIALECTS.filter((dialect) => keeps(endpointOf({ provider: providerOf({ dialect }) })));
}

const ANTHROPIC = { signature: 'sig', format: 'anthropic-claude-v1' };

describe('custodyOf', () => {
  it.each<[string, Item, string[]]>([
    ['a signature of Anthropic', thoughts(ANTHROPIC), ['messages', 'bedrock', 'simulator']],
    [
      'redacted thoughts of Anthropic',
      thoughts({ encrypted: 'x', format: 'anthropic-claude-v1' }),
      ['messages', 'bedrock', 'simulator'],
    ],
    [
      'redacted thoughts of Bedrock alone',
      thoughts({ encrypted: 'x', format: 'amazon-bedrock-v1' }),
      ['bedrock'],
    ],
    [
      'encrypted thoughts of OpenAI',
      thoughts({ encrypted: 'x', format: 'openai-responses-v1' }),
      ['responses'],
    ],
    ['a thought signature of Google', thoughts({ signature: 'x', format: 'google-gemini-v1' }), ['gemini']],
    ['what a chat upstream gave', thoughts({ signature: 'x', givenBy: 'chat' }), ['chat']],
    [
      'what a chat upstream gave of Anthropic',
      thoughts({ ...ANTHROPIC, givenBy: 'chat' }),
      ['messages', 'chat', 'bedrock', 'simulator'],
    ],
    ['a signature on a call', call({ signature: 'x', signatureFormat: 'google-gemini-v1' }), ['gemini']],
    ['a call from a chat upstream', call({ signature: 'x', signatureGivenBy: 'chat' }), ['chat']],
    ['a seal of unknown origin', thoughts({ signature: 'x' }), []],
  ])('%s', (_, sealed, dialects) => {
    expect(keepers([said, sealed, said])).toEqual(dialects);
  });

  it('tells providers of one dialect apart by the family whose models they serve', () => {
    const quirks = { reasoningFormat: 'xai-responses-v1' };
    const xai = endpointOf({ provider: providerOf({ dialect: 'responses', quirks }) });
    const openai = endpointOf({ provider: providerOf({ dialect: 'responses' }) });
    const keeps = (format: string) => {
      const custody = custodyOf(requestOf({ items: [said, thoughts({ encrypted: 'x', format })] }));
      return [xai, openai].map((endpoint) => custody?.(endpoint));
    };
    expect(keeps('xai-responses-v1')).toEqual([true, false]);
    expect(keeps('openai-responses-v1')).toEqual([false, true]);
  });

  it('takes the seal of a call in the responses format for one of Google, which alone signs calls', () => {
    expect(keepers([call({ signature: 'x' })], 'responses')).toEqual(['gemini']);
    expect(keepers([call({ signature: 'x' })], 'messages')).toEqual([]);
  });

  it('goes by the newest seal', () => {
    const google = thoughts({ signature: 'x', format: 'google-gemini-v1' });
    expect(keepers([thoughts(ANTHROPIC), said, google])).toEqual(['gemini']);
    expect(keepers([google, said, thoughts(ANTHROPIC)])).toEqual(['messages', 'bedrock', 'simulator']);
  });

  it('has nothing to keep without a seal', () => {
    expect(
      keepers([said, thoughts({}), thoughts({ signature: '', encrypted: '' }), call({})]),
    ).toBeUndefined();
  });
});
