import { type ByokQuery, byokObject, type CreateByok, type UpdateByok } from '../../contract/byok.ts';
import { callerOf } from './caller-of.ts';
import type { Call, Handler } from './route.ts';

/** `POST /byok`. */
export const createByok: Handler = async (call) => {
  const credential = await call.services.byok.create(callerOf(call).accountId, call.body as CreateByok);
  call.exchange.reply.json(201, { data: byokObject(credential) });
};

/** `GET /byok`. */
export const listByok: Handler = async (call) => {
  const { credentials, total } = await call.services.byok.list(
    callerOf(call).accountId,
    call.query as ByokQuery,
  );
  call.exchange.reply.json(200, { data: credentials.map(byokObject), total_count: total });
};

/** `GET /byok/{id}`. */
export const showByok: Handler = async (call) => {
  const credential = await call.services.byok.get(callerOf(call).accountId, idOf(call));
  call.exchange.reply.json(200, { data: byokObject(credential) });
};

/** `PATCH /byok/{id}`. */
export const updateByok: Handler = async (call) => {
  const credential = await call.services.byok.update(
    callerOf(call).accountId,
    idOf(call),
    call.body as UpdateByok,
  );
  call.exchange.reply.json(200, { data: byokObject(credential) });
};

/** `DELETE /byok/{id}`. */
export const deleteByok: Handler = async (call) => {
  await call.services.byok.delete(callerOf(call).accountId, idOf(call));
  call.exchange.reply.json(200, { deleted: true });
};

function idOf({ params }: Call): string {
  return (params.id ?? '').toLowerCase();
}
