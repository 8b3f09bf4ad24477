import { currentKeyObject } from '../../contract/current-key.ts';
import { type CreateKey, type KeysQuery, keyObject, type UpdateKey } from '../../contract/key.ts';
import { callerOf } from './caller-of.ts';
import type { Call, Handler } from './route.ts';

/** `GET /key`. */
export const showCurrentKey: Handler = async (call) => {
  const statement = await call.services.accountKeys.statementOf(callerOf(call).key);
  call.exchange.reply.json(200, { data: currentKeyObject(statement) });
};

/** `POST /keys`. */
export const createKey: Handler = async (call) => {
  const { accountId } = callerOf(call);
  const { statement, secret } = await call.services.accountKeys.create(accountId, call.body as CreateKey);
  call.exchange.reply.json(201, { data: keyObject(statement), key: secret });
};

/** `GET /keys`. */
export const listKeys: Handler = async (call) => {
  const { accountId } = callerOf(call);
  const statements = await call.services.accountKeys.list(accountId, call.query as KeysQuery);
  call.exchange.reply.json(200, { data: statements.map(keyObject) });
};

/** `GET /keys/{hash}`. */
export const showKey: Handler = async (call) => {
  const statement = await call.services.accountKeys.get(callerOf(call).accountId, hashOf(call));
  call.exchange.reply.json(200, { data: keyObject(statement) });
};

/** `PATCH /keys/{hash}`. */
export const updateKey: Handler = async (call) => {
  const { accountId } = callerOf(call);
  const { accountKeys } = call.services;
  const statement = await accountKeys.update(accountId, hashOf(call), call.body as UpdateKey);
  call.exchange.reply.json(200, { data: keyObject(statement) });
};

/** `DELETE /keys/{hash}`. */
export const deleteKey: Handler = async (call) => {
  await call.services.accountKeys.delete(callerOf(call).accountId, hashOf(call));
  call.exchange.reply.json(200, { deleted: true });
};

function hashOf({ params }: Call): string {
  return (params.hash ?? '').toLowerCase();
}
