import Type from 'typebox';
import { errorEnvelopeSchema } from '../../contract/envelopes/error-envelope.ts';
import { currentKeyObject, currentKeySchema } from '../../contract/keys/current-key.ts';
import {
  type CreateKey,
  createKeySchema,
  issuedKeySchema,
  type KeysQuery,
  keyListSchema,
  keyObject,
  keyReplySchema,
  keysQuerySchema,
  type UpdateKey,
  updateKeySchema,
} from '../../contract/keys/key.ts';
import type { Call, Route } from '../route.ts';
import {
  callerOf,
  created,
  deletion,
  errors,
  MANAGEMENT,
  managementRefusals,
  NOTHING_DECLARED,
  ok,
  READ,
  retrieval,
  withBody,
  withQuery,
} from './row-parts.ts';

const KEYS = { ...MANAGEMENT, tag: 'Keys' } as const;

const CURRENT_KEY: Route = {
  ...READ,
  path: '/key',
  operationId: 'getCurrentKey',
  summary: 'The key of this request',
  tag: 'Keys',
  auth: 'any',
  rateClass: 'management',
  request: NOTHING_DECLARED,
  responses: {
    200: ok(Type.Object({ data: currentKeySchema })),
    ...errors(errorEnvelopeSchema, [401, 500]),
  },
  handler: async (call) => {
    const statement = await call.services.accountKeys.statementOf(callerOf(call).key);
    call.exchange.reply.json(200, { data: currentKeyObject(statement) });
  },
};

/** The key of a request itself, under two paths. */
export const CURRENT_KEY_ROUTES: readonly Route[] = [
  CURRENT_KEY,
  { ...CURRENT_KEY, path: '/auth/key', operationId: 'getCurrentKeyAlias' },
];

/** Keys of an account. */
export const KEY_ROUTES: readonly Route[] = [
  {
    ...KEYS,
    method: 'POST',
    path: '/keys',
    operationId: 'createKey',
    summary: 'Make a key; it is shown this once',
    request: withBody(createKeySchema),
    responses: { 201: created(issuedKeySchema), ...managementRefusals(400, 404, 413, 415) },
    handler: async (call) => {
      const { accountId } = callerOf(call);
      const { statement, secret } = await call.services.accountKeys.create(accountId, call.body as CreateKey);
      call.exchange.reply.json(201, { data: keyObject(statement), key: secret });
    },
  },
  {
    ...KEYS,
    method: 'GET',
    path: '/keys',
    operationId: 'listKeys',
    summary: 'Keys of a workspace or of all, newest first, 100 a page; management keys are not listed',
    request: withQuery(keysQuerySchema),
    responses: { 200: ok(keyListSchema), ...managementRefusals(400, 404) },
    handler: async (call) => {
      const { accountId } = callerOf(call);
      const statements = await call.services.accountKeys.list(accountId, call.query as KeysQuery);
      call.exchange.reply.json(200, { data: statements.map(keyObject) });
    },
  },
  {
    ...KEYS,
    ...retrieval(
      keyReplySchema,
      async (call) => keyObject(await call.services.accountKeys.get(callerOf(call).accountId, hashOf(call))),
      404,
    ),
    path: '/keys/{hash}',
    operationId: 'getKey',
    summary: 'One key',
  },
  {
    ...KEYS,
    method: 'PATCH',
    path: '/keys/{hash}',
    operationId: 'updateKey',
    summary: 'Change a key; its limit counts what was spent before',
    request: withBody(updateKeySchema),
    responses: { 200: ok(keyReplySchema), ...managementRefusals(400, 404, 409, 413, 415) },
    handler: async (call) => {
      const { accountId } = callerOf(call);
      const { accountKeys } = call.services;
      const statement = await accountKeys.update(accountId, hashOf(call), call.body as UpdateKey);
      call.exchange.reply.json(200, { data: keyObject(statement) });
    },
  },
  {
    ...KEYS,
    ...deletion((call) => call.services.accountKeys.delete(callerOf(call).accountId, hashOf(call)), 404, 409),
    path: '/keys/{hash}',
    operationId: 'deleteKey',
    summary: 'Delete a key for good',
  },
];

function hashOf({ params }: Call): string {
  return (params.hash ?? '').toLowerCase();
}
