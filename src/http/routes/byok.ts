import {
  type ByokQuery,
  byokListSchema,
  byokObject,
  byokQuerySchema,
  byokReplySchema,
  type CreateByok,
  createByokSchema,
  type UpdateByok,
  updateByokSchema,
} from '../../contract/workspaces/byok.ts';
import type { Call, Route } from '../route.ts';
import {
  callerOf,
  created,
  deletion,
  MANAGEMENT,
  managementRefusals,
  ok,
  retrieval,
  withBody,
  withQuery,
} from './row-parts.ts';

const BYOK = { ...MANAGEMENT, tag: 'BYOK' } as const;

/** Credentials that an account brings for providers. */
export const BYOK_ROUTES: readonly Route[] = [
  {
    ...BYOK,
    method: 'POST',
    path: '/byok',
    operationId: 'createByok',
    summary: 'Store a credential for a provider',
    request: {
      ...withBody(createByokSchema),
      furtherIssues: (valid, { byok }) => byok.issuesOf(valid),
    },
    responses: { 201: created(byokReplySchema), ...managementRefusals(400, 404, 413, 415) },
    handler: async (call) => {
      const credential = await call.services.byok.create(callerOf(call).accountId, call.body as CreateByok);
      call.exchange.reply.json(201, { data: byokObject(credential) });
    },
  },
  {
    ...BYOK,
    method: 'GET',
    path: '/byok',
    operationId: 'listByok',
    summary: 'Credentials of a workspace, or of all',
    request: withQuery(byokQuerySchema),
    responses: { 200: ok(byokListSchema), ...managementRefusals(400, 404) },
    handler: async (call) => {
      const { credentials, total } = await call.services.byok.list(
        callerOf(call).accountId,
        call.query as ByokQuery,
      );
      call.exchange.reply.json(200, { data: credentials.map(byokObject), total_count: total });
    },
  },
  {
    ...BYOK,
    ...retrieval(
      byokReplySchema,
      async (call) => byokObject(await call.services.byok.get(callerOf(call).accountId, idOf(call))),
      404,
    ),
    path: '/byok/{id}',
    operationId: 'getByok',
    summary: 'One credential',
  },
  {
    ...BYOK,
    method: 'PATCH',
    path: '/byok/{id}',
    operationId: 'updateByok',
    summary: 'Change a credential; a new key replaces the old one in place',
    request: withBody(updateByokSchema),
    responses: { 200: ok(byokReplySchema), ...managementRefusals(400, 404, 409, 413, 415) },
    handler: async (call) => {
      const credential = await call.services.byok.update(
        callerOf(call).accountId,
        idOf(call),
        call.body as UpdateByok,
      );
      call.exchange.reply.json(200, { data: byokObject(credential) });
    },
  },
  {
    ...BYOK,
    ...deletion((call) => call.services.byok.delete(callerOf(call).accountId, idOf(call)), 404, 409),
    path: '/byok/{id}',
    operationId: 'deleteByok',
    summary: 'Delete a credential and wipe its key',
  },
];

function idOf({ params }: Call): string {
  return (params.id ?? '').toLowerCase();
}
