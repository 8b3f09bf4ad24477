import Type from 'typebox';
import { deletedSchema } from '../contract/envelopes/deleted.ts';
import { currentKeyObject, currentKeySchema } from '../contract/keys/current-key.ts';
import {
  createKeySchema,
  issuedKeySchema,
  keyListSchema,
  keyObject,
  keyReplySchema,
  keysQuerySchema,
  updateKeySchema,
} from '../contract/keys/key.ts';
import type { Caller } from '../ports/tenancy/caller.ts';
import { type AnyEndpoint, endpoint } from './endpoint.ts';
import { DELETED, MANAGEMENT } from './endpoint-parts.ts';

const KEYS = { ...MANAGEMENT, tag: 'Keys' } as const;

const CURRENT_KEY = endpoint({
  ...KEYS,
  method: 'GET',
  path: '/key',
  operationId: 'getCurrentKey',
  summary: 'The key of this request',
  permission: 'own-key.read',
  reply: Type.Object({ data: currentKeySchema }),
  run: async ({ services, caller }) => ({
    data: currentKeyObject(await services.keys.statementOf(caller.key)),
  }),
});

/** The key of a request itself, under two paths. */
export const CURRENT_KEY_ENDPOINTS: readonly AnyEndpoint[] = [
  CURRENT_KEY,
  { ...CURRENT_KEY, path: '/auth/key', operationId: 'getCurrentKeyAlias' },
];

export const KEY_ENDPOINTS: readonly AnyEndpoint[] = [
  endpoint({
    ...KEYS,
    method: 'POST',
    path: '/keys',
    operationId: 'createKey',
    summary: 'Make a key; it is shown this once',
    permission: 'keys.change',
    body: createKeySchema,
    reply: issuedKeySchema,
    status: 201,
    refusals: [404],
    run: async (call) => {
      const { accountId } = call.caller;
      const { statement, secret } = await call.services.keys.create(accountId, call.body);
      return { data: keyObject(statement), key: secret };
    },
  }),
  endpoint({
    ...KEYS,
    method: 'GET',
    path: '/keys',
    operationId: 'listKeys',
    summary: 'Keys of a workspace or of all, newest first, 100 a page; management keys are not listed',
    permission: 'keys.read',
    query: keysQuerySchema,
    reply: keyListSchema,
    refusals: [404],
    run: async (call) => {
      const { accountId } = call.caller;
      const statements = await call.services.keys.list(accountId, call.query);
      return { data: statements.map(keyObject) };
    },
  }),
  endpoint({
    ...KEYS,
    method: 'GET',
    path: '/keys/{hash}',
    operationId: 'getKey',
    summary: 'One key',
    permission: 'keys.read',
    reply: keyReplySchema,
    refusals: [404],
    run: async (call) => ({ data: keyObject(await call.services.keys.get(...keyOf(call))) }),
  }),
  endpoint({
    ...KEYS,
    method: 'PATCH',
    path: '/keys/{hash}',
    operationId: 'updateKey',
    summary: 'Change a key; its limit counts what was spent before',
    permission: 'keys.change',
    body: updateKeySchema,
    reply: keyReplySchema,
    refusals: [404, 409],
    run: async (call) => ({
      data: keyObject(await call.services.keys.update(...keyOf(call), call.body)),
    }),
  }),
  endpoint({
    ...KEYS,
    method: 'DELETE',
    path: '/keys/{hash}',
    operationId: 'deleteKey',
    summary: 'Delete a key for good',
    permission: 'keys.change',
    reply: deletedSchema,
    refusals: [404, 409],
    run: async (call) => {
      await call.services.keys.delete(...keyOf(call));
      return DELETED;
    },
  }),
];

/** The account of the caller, and the hash in the path. */
function keyOf({ caller, params }: KeyCall): [accountId: string, hash: string] {
  return [caller.accountId, params.hash.toLowerCase()];
}

interface KeyCall {
  readonly caller: Caller;
  readonly params: { readonly hash: string };
}
