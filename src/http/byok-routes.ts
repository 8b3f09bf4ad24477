import { type ByokQuery, byokObject, type CreateByok, type UpdateByok } from '../contract/byok.ts';
import type { Call, Handler } from './route.ts';

/** `POST /byok`. */
export const createByok: Handler = async (call) => {
  const credential = await call.services.byok.create(accountOf(call), call.body as CreateByok);
  call.exchange.reply.json(201, { data: byokObject(credential) });
};

/** `GET /byok`. */
export const listByok: Handler = async (call) => {
  const { credentials, total } = await call.services.byok.list(accountOf(call), call.query as ByokQuery);
  call.exchange.reply.json(200, { data: credentials.map(byokObject), total_count: total });
};

/** `GET /byok/{id}`. */
export const showByok: Handler = async (call) => {
  const credential = await call.services.byok.get(accountOf(call), idOf(call));
  call.exchange.reply.json(200, { data: byokObject(credential) });
};

/** `PATCH /byok/{id}`. */
export const updateByok: Handler = async (call) => {
  const credential = await call.services.byok.update(accountOf(call), idOf(call), call.body as UpdateByok);
  call.exchange.reply.json(200, { data: byokObject(credential) });
};

/** `DELETE /byok/{id}`. */
export const deleteByok: Handler = async (call) => {
  await call.services.byok.delete(accountOf(call), idOf(call));
  call.exchange.reply.json(200, { deleted: true });
};

function accountOf({ caller }: Call): string {
  if (caller === undefined) throw new Error('this route must require a key');
  return caller.accountId;
}

function idOf({ params }: Call): string {
  return (params.id ?? '').toLowerCase();
}
