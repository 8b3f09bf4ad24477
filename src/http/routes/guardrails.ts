import {
  type CreateGuardrail,
  createGuardrailSchema,
  type GuardrailsQuery,
  guardrailListSchema,
  guardrailReplySchema,
  guardrailsQuerySchema,
  type UpdateGuardrail,
  updateGuardrailSchema,
} from '../../contract/guardrails/guardrail.ts';
import { guardrailObject } from '../../contract/guardrails/guardrail-object.ts';
import {
  type GuardrailTrial,
  guardrailTrialSchema,
  guardrailVerdictSchema,
} from '../../contract/guardrails/trial.ts';
import type { Route } from '../route.ts';
import { GUARDRAIL_ASSIGNMENT_ROUTES } from './guardrail-assignments.ts';
import {
  callerOf,
  created,
  deletion,
  MANAGEMENT,
  managementRefusals,
  ok,
  placeOf,
  retrieval,
  withBody,
  withQuery,
} from './row-parts.ts';

const GUARDRAILS = { ...MANAGEMENT, tag: 'Guardrails' } as const;

/** Guardrails, and what they are assigned to. */
export const GUARDRAIL_ROUTES: readonly Route[] = [
  {
    ...GUARDRAILS,
    method: 'POST',
    path: '/guardrails',
    operationId: 'createGuardrail',
    summary: 'Make a guardrail; it applies to nothing until it is assigned',
    request: withBody(createGuardrailSchema),
    responses: { 201: created(guardrailReplySchema), ...managementRefusals(400, 404, 413, 415) },
    handler: async (call) => {
      const { accountId } = callerOf(call);
      const guardrail = await call.services.guardrails.create(accountId, call.body as CreateGuardrail);
      call.exchange.reply.json(201, { data: guardrailObject(guardrail) });
    },
  },
  {
    ...GUARDRAILS,
    method: 'GET',
    path: '/guardrails',
    operationId: 'listGuardrails',
    summary: 'Guardrails of a workspace, oldest first',
    request: withQuery(guardrailsQuerySchema),
    responses: { 200: ok(guardrailListSchema), ...managementRefusals(400, 404) },
    handler: async (call) => {
      const { accountId } = callerOf(call);
      const { guardrails, total } = await call.services.guardrails.list(
        accountId,
        call.query as GuardrailsQuery,
      );
      call.exchange.reply.json(200, { data: guardrails.map(guardrailObject), total_count: total });
    },
  },
  ...GUARDRAIL_ASSIGNMENT_ROUTES,
  {
    ...GUARDRAILS,
    ...retrieval(
      guardrailReplySchema,
      async (call) => guardrailObject(await call.services.guardrails.get(...placeOf(call))),
      404,
    ),
    path: '/guardrails/{id}',
    operationId: 'getGuardrail',
    summary: 'One guardrail; `default` is that of the account',
  },
  {
    ...GUARDRAILS,
    method: 'PATCH',
    path: '/guardrails/{id}',
    operationId: 'updateGuardrail',
    summary: 'Change a guardrail; makes that of the account (`default`) or of a workspace if it is not there',
    request: withBody(updateGuardrailSchema),
    responses: { 200: ok(guardrailReplySchema), ...managementRefusals(400, 404, 409, 413, 415) },
    handler: async (call) => {
      const guardrail = await call.services.guardrails.update(...placeOf(call), call.body as UpdateGuardrail);
      call.exchange.reply.json(200, { data: guardrailObject(guardrail) });
    },
  },
  {
    ...GUARDRAILS,
    method: 'POST',
    path: '/guardrails/{id}/test',
    operationId: 'testGuardrail',
    summary: 'Try the filters of a guardrail on a text, without calling a model',
    request: withBody(guardrailTrialSchema),
    responses: { 200: ok(guardrailVerdictSchema), ...managementRefusals(400, 404, 413, 415) },
    handler: async (call) => {
      const verdict = await call.services.guardrails.test(...placeOf(call), call.body as GuardrailTrial);
      call.exchange.reply.json(200, { data: verdict });
    },
  },
  {
    ...GUARDRAILS,
    ...deletion((call) => call.services.guardrails.delete(...placeOf(call)), 404, 409),
    path: '/guardrails/{id}',
    operationId: 'deleteGuardrail',
    summary: 'Delete a guardrail with its assignments',
  },
];
