import { deletedSchema } from '../contract/envelopes/deleted.ts';
import {
  byokListSchema,
  byokObject,
  byokQuerySchema,
  byokReplySchema,
  createByokSchema,
  updateByokSchema,
} from '../contract/workspaces/byok.ts';
import { type AnyEndpoint, endpoint } from './endpoint.ts';
import { DELETED, MANAGEMENT, uuidPlaceOf } from './endpoint-parts.ts';

const BYOK = { ...MANAGEMENT, tag: 'BYOK' } as const;

/** Credentials that an account brings for providers. */
export const BYOK_ENDPOINTS: readonly AnyEndpoint[] = [
  endpoint({
    ...BYOK,
    method: 'POST',
    path: '/byok',
    operationId: 'createByok',
    summary: 'Store a credential for a provider',
    permission: 'byok.change',
    body: createByokSchema,
    furtherIssues: (valid, { byok }) => byok.issuesOf(valid),
    reply: byokReplySchema,
    status: 201,
    refusals: [404],
    run: async (call) => {
      const credential = await call.services.byok.create(call.caller.accountId, call.body);
      return { data: byokObject(credential) };
    },
  }),
  endpoint({
    ...BYOK,
    method: 'GET',
    path: '/byok',
    operationId: 'listByok',
    summary: 'Credentials of a workspace, or of all',
    permission: 'byok.read',
    query: byokQuerySchema,
    reply: byokListSchema,
    refusals: [404],
    run: async (call) => {
      const { credentials, total } = await call.services.byok.list(call.caller.accountId, call.query);
      return { data: credentials.map(byokObject), total_count: total };
    },
  }),
  endpoint({
    ...BYOK,
    method: 'GET',
    path: '/byok/{id}',
    operationId: 'getByok',
    summary: 'One credential',
    permission: 'byok.read',
    reply: byokReplySchema,
    refusals: [404],
    run: async (call) => ({ data: byokObject(await call.services.byok.get(...uuidPlaceOf(call))) }),
  }),
  endpoint({
    ...BYOK,
    method: 'PATCH',
    path: '/byok/{id}',
    operationId: 'updateByok',
    summary: 'Change a credential; a new key replaces the old one in place',
    permission: 'byok.change',
    body: updateByokSchema,
    reply: byokReplySchema,
    refusals: [404, 409],
    run: async (call) => {
      const credential = await call.services.byok.update(...uuidPlaceOf(call), call.body);
      return { data: byokObject(credential) };
    },
  }),
  endpoint({
    ...BYOK,
    method: 'DELETE',
    path: '/byok/{id}',
    operationId: 'deleteByok',
    summary: 'Delete a credential and wipe its key',
    permission: 'byok.change',
    reply: deletedSchema,
    refusals: [404, 409],
    run: async (call) => {
      await call.services.byok.delete(...uuidPlaceOf(call));
      return DELETED;
    },
  }),
];
