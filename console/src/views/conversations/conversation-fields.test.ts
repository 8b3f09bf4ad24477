import { expect, it } from 'vitest';
import { orderOf } from '../log/log-order.ts';
import { conversationFields, conversationOrder, logOfConversation } from './conversation-fields.ts';

const CONVERSATION = { session_id: 'a, b', workspace_id: 'w-2' };

it('leads to the log of a conversation, in the order of time, with range and filters', () => {
  const query = new URLSearchParams(
    'from=-7d&model=acme/one&model=acme/two&workspace=w-1&search=a&sort=-cost&other=1',
  );
  const address = logOfConversation(CONVERSATION, query, true);
  const [path, search] = address.split('?');
  expect(path).toBe('/log');
  const next = new URLSearchParams(search);
  expect([...next]).toEqual([
    ['from', '-7d'],
    ['model', 'acme/one'],
    ['model', 'acme/two'],
    ['workspace', 'w-2'],
    ['session_id', 'a, b'],
    ['sort', 'created_at'],
  ]);
  expect(orderOf(next)).toEqual({ by: 'created_at', isDescending: false });
});

it('names no workspace to a key that sees only itself', () => {
  expect(logOfConversation(CONVERSATION, new URLSearchParams(), false)).toBe(
    '/log?session_id=a%2C+b&sort=created_at',
  );
});

it('filters by what each generation of a conversation has', () => {
  const names = (isManagement: boolean) => conversationFields(isManagement).map(({ name }) => name);
  expect(names(true)).toEqual([
    'workspace',
    'key',
    'model',
    'provider',
    'app',
    'session_id',
    'external_user',
  ]);
  expect(names(false)).toEqual(['model', 'provider', 'app', 'session_id', 'external_user']);
});

it('puts the latest first unless the address names an order that there is', () => {
  const of = (sort: string) => conversationOrder(new URLSearchParams({ sort }));
  expect(of('-cost')).toEqual({ by: 'cost', isDescending: true });
  expect(of('failed')).toEqual({ by: 'failed', isDescending: false });
  expect(of('name')).toEqual({ by: 'last_at', isDescending: true });
});
