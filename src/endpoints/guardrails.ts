import { deletedSchema } from '../contract/envelopes/deleted.ts';
import {
  createGuardrailSchema,
  guardrailListSchema,
  guardrailReplySchema,
  guardrailsQuerySchema,
  updateGuardrailSchema,
} from '../contract/guardrails/guardrail.ts';
import { guardrailObject } from '../contract/guardrails/guardrail-object.ts';
import { guardrailTrialSchema, guardrailVerdictSchema } from '../contract/guardrails/trial.ts';
import { type AnyEndpoint, endpoint } from './endpoint.ts';
import { DELETED, MANAGEMENT, placeOf } from './endpoint-parts.ts';
import { GUARDRAIL_ASSIGNMENT_ENDPOINTS } from './guardrail-assignments.ts';

const GUARDRAILS = { ...MANAGEMENT, tag: 'Guardrails' } as const;

export const GUARDRAIL_ENDPOINTS: readonly AnyEndpoint[] = [
  endpoint({
    ...GUARDRAILS,
    method: 'POST',
    path: '/guardrails',
    operationId: 'createGuardrail',
    summary: 'Make a guardrail; it applies to nothing until it is assigned',
    permission: 'guardrails.change',
    body: createGuardrailSchema,
    reply: guardrailReplySchema,
    status: 201,
    refusals: [404],
    run: async (call) => {
      const { accountId } = call.caller;
      const guardrail = await call.services.guardrails.create(accountId, call.body);
      return { data: guardrailObject(guardrail) };
    },
  }),
  endpoint({
    ...GUARDRAILS,
    method: 'GET',
    path: '/guardrails',
    operationId: 'listGuardrails',
    summary: 'Guardrails of a workspace, or of all, oldest first',
    permission: 'guardrails.read',
    query: guardrailsQuerySchema,
    reply: guardrailListSchema,
    refusals: [404],
    run: async (call) => {
      const { accountId } = call.caller;
      const service = call.services.guardrails;
      const { guardrails, total } = await service.list(accountId, call.query);
      const countsOf = call.query.include_assigned_counts
        ? await service.assignedCounts(accountId)
        : undefined;
      const data = guardrails.map((guardrail) => guardrailObject(guardrail, countsOf?.(guardrail)));
      return { data, total_count: total };
    },
  }),
  ...GUARDRAIL_ASSIGNMENT_ENDPOINTS,
  endpoint({
    ...GUARDRAILS,
    method: 'GET',
    path: '/guardrails/{id}',
    operationId: 'getGuardrail',
    summary: 'One guardrail; `default` is that of the account',
    permission: 'guardrails.read',
    reply: guardrailReplySchema,
    refusals: [404],
    run: async (call) => ({ data: guardrailObject(await call.services.guardrails.get(...placeOf(call))) }),
  }),
  endpoint({
    ...GUARDRAILS,
    method: 'PATCH',
    path: '/guardrails/{id}',
    operationId: 'updateGuardrail',
    summary: 'Change a guardrail; makes that of the account (`default`) or of a workspace if it is not there',
    permission: 'guardrails.change',
    body: updateGuardrailSchema,
    reply: guardrailReplySchema,
    refusals: [404, 409],
    run: async (call) => {
      const guardrail = await call.services.guardrails.update(...placeOf(call), call.body);
      return { data: guardrailObject(guardrail) };
    },
  }),
  endpoint({
    ...GUARDRAILS,
    method: 'POST',
    path: '/guardrails/{id}/test',
    operationId: 'testGuardrail',
    summary: 'Try the filters of a guardrail on a text, without calling a model',
    permission: 'guardrails.try',
    body: guardrailTrialSchema,
    reply: guardrailVerdictSchema,
    refusals: [404],
    run: async (call) => {
      const verdict = await call.services.guardrails.test(...placeOf(call), call.body);
      return { data: verdict };
    },
  }),
  endpoint({
    ...GUARDRAILS,
    method: 'DELETE',
    path: '/guardrails/{id}',
    operationId: 'deleteGuardrail',
    summary: 'Delete a guardrail with its assignments',
    permission: 'guardrails.change',
    reply: deletedSchema,
    refusals: [404, 409],
    run: async (call) => {
      await call.services.guardrails.delete(...placeOf(call));
      return DELETED;
    },
  }),
];
