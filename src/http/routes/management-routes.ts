import type { TSchema } from 'typebox';
import { budgetListSchema, budgetReplySchema, setBudgetSchema } from '../../contract/budget.ts';
import {
  byokListSchema,
  byokQuerySchema,
  byokReplySchema,
  createByokSchema,
  updateByokSchema,
} from '../../contract/byok.ts';
import { creditsSchema } from '../../contract/credits.ts';
import { deletedSchema } from '../../contract/deleted.ts';
import { errorEnvelopeSchema } from '../../contract/error-envelope.ts';
import {
  createKeySchema,
  issuedKeySchema,
  keyListSchema,
  keyReplySchema,
  keysQuerySchema,
  updateKeySchema,
} from '../../contract/key.ts';
import {
  createWorkspaceSchema,
  updateWorkspaceSchema,
  workspaceListSchema,
  workspaceReplySchema,
  workspacesQuerySchema,
} from '../../contract/workspace.ts';
import { encodeEnvelope } from '../../dialects/shared/answers/error-envelope.ts';
import { created, type ErrorStatus, errors, ok } from '../openapi/route-responses.ts';
import { createByok, deleteByok, listByok, showByok, updateByok } from './byok-routes.ts';
import { refusePurchase, showCredits } from './credit-routes.ts';
import { createKey, deleteKey, listKeys, showKey, updateKey } from './key-routes.ts';
import type { Route } from './route.ts';
import {
  createWorkspace,
  deleteBudget,
  deleteWorkspace,
  listBudgets,
  listWorkspaces,
  setBudget,
  showBudget,
  showWorkspace,
  updateWorkspace,
} from './workspace-routes.ts';

const NOTHING_DECLARED = { query: null, headers: null, body: null } as const;

/** An operation on what an account owns. */
const MANAGEMENT = {
  mount: 'api',
  auth: 'management',
  rateClass: 'management',
  encodeError: encodeEnvelope,
} as const;

const BYOK = { ...MANAGEMENT, tag: 'BYOK' } as const;
const KEYS = { ...MANAGEMENT, tag: 'Keys' } as const;
const WORKSPACES = { ...MANAGEMENT, tag: 'Workspaces' } as const;
const CREDITS = { ...MANAGEMENT, tag: 'Credits' } as const;

function query(schema: Route['request']['query']): Route['request'] {
  return { ...NOTHING_DECLARED, query: schema };
}

function body(schema: TSchema): Route['request'] {
  return { ...NOTHING_DECLARED, body: schema };
}

/** Refusals of every operation here, and others. */
function refusals(...others: readonly ErrorStatus[]) {
  return errors(errorEnvelopeSchema, [401, 403, 500, ...others]);
}

/** What an account manages: credentials, keys, workspaces, budgets, its balance. */
export const MANAGEMENT_ROUTES: readonly Route[] = [
  {
    ...BYOK,
    method: 'POST',
    path: '/byok',
    operationId: 'createByok',
    summary: 'Store a credential for a provider',
    request: {
      ...body(createByokSchema),
      furtherIssues: (valid, { byok }) => byok.issuesOf(valid),
    },
    responses: { 201: created(byokReplySchema), ...refusals(400, 404, 413, 415) },
    handler: createByok,
  },
  {
    ...BYOK,
    method: 'GET',
    path: '/byok',
    operationId: 'listByok',
    summary: 'Credentials of a workspace',
    request: query(byokQuerySchema),
    responses: { 200: ok(byokListSchema), ...refusals(400, 404) },
    handler: listByok,
  },
  {
    ...BYOK,
    method: 'GET',
    path: '/byok/{id}',
    operationId: 'getByok',
    summary: 'One credential',
    request: NOTHING_DECLARED,
    responses: { 200: ok(byokReplySchema), ...refusals(404) },
    handler: showByok,
  },
  {
    ...BYOK,
    method: 'PATCH',
    path: '/byok/{id}',
    operationId: 'updateByok',
    summary: 'Change a credential; a new key replaces the old one in place',
    request: body(updateByokSchema),
    responses: { 200: ok(byokReplySchema), ...refusals(400, 404, 413, 415) },
    handler: updateByok,
  },
  {
    ...BYOK,
    method: 'DELETE',
    path: '/byok/{id}',
    operationId: 'deleteByok',
    summary: 'Delete a credential and wipe its key',
    request: NOTHING_DECLARED,
    responses: { 200: ok(deletedSchema), ...refusals(404) },
    handler: deleteByok,
  },
  {
    ...KEYS,
    method: 'POST',
    path: '/keys',
    operationId: 'createKey',
    summary: 'Make a key; it is shown this once',
    request: body(createKeySchema),
    responses: { 201: created(issuedKeySchema), ...refusals(400, 404, 413, 415) },
    handler: createKey,
  },
  {
    ...KEYS,
    method: 'GET',
    path: '/keys',
    operationId: 'listKeys',
    summary: 'Keys of a workspace, newest first, 100 a page; management keys are not listed',
    request: query(keysQuerySchema),
    responses: { 200: ok(keyListSchema), ...refusals(400, 404) },
    handler: listKeys,
  },
  {
    ...KEYS,
    method: 'GET',
    path: '/keys/{hash}',
    operationId: 'getKey',
    summary: 'One key',
    request: NOTHING_DECLARED,
    responses: { 200: ok(keyReplySchema), ...refusals(404) },
    handler: showKey,
  },
  {
    ...KEYS,
    method: 'PATCH',
    path: '/keys/{hash}',
    operationId: 'updateKey',
    summary: 'Change a key; its limit counts what was spent before',
    request: body(updateKeySchema),
    responses: { 200: ok(keyReplySchema), ...refusals(400, 404, 413, 415) },
    handler: updateKey,
  },
  {
    ...KEYS,
    method: 'DELETE',
    path: '/keys/{hash}',
    operationId: 'deleteKey',
    summary: 'Delete a key for good',
    request: NOTHING_DECLARED,
    responses: { 200: ok(deletedSchema), ...refusals(404) },
    handler: deleteKey,
  },
  {
    ...WORKSPACES,
    method: 'POST',
    path: '/workspaces',
    operationId: 'createWorkspace',
    summary: 'Make a workspace',
    request: body(createWorkspaceSchema),
    responses: { 201: created(workspaceReplySchema), ...refusals(400, 409, 413, 415) },
    handler: createWorkspace,
  },
  {
    ...WORKSPACES,
    method: 'GET',
    path: '/workspaces',
    operationId: 'listWorkspaces',
    summary: 'Workspaces of the account, oldest first',
    request: query(workspacesQuerySchema),
    responses: { 200: ok(workspaceListSchema), ...refusals(400) },
    handler: listWorkspaces,
  },
  {
    ...WORKSPACES,
    method: 'GET',
    path: '/workspaces/{id}',
    operationId: 'getWorkspace',
    summary: 'One workspace, by id or slug',
    request: NOTHING_DECLARED,
    responses: { 200: ok(workspaceReplySchema), ...refusals(404) },
    handler: showWorkspace,
  },
  {
    ...WORKSPACES,
    method: 'PATCH',
    path: '/workspaces/{id}',
    operationId: 'updateWorkspace',
    summary: 'Change a workspace',
    request: body(updateWorkspaceSchema),
    responses: { 200: ok(workspaceReplySchema), ...refusals(400, 404, 409, 413, 415) },
    handler: updateWorkspace,
  },
  {
    ...WORKSPACES,
    method: 'DELETE',
    path: '/workspaces/{id}',
    operationId: 'deleteWorkspace',
    summary: 'Delete a workspace without active keys, with its budgets, credentials and files',
    request: NOTHING_DECLARED,
    responses: { 200: ok(deletedSchema), ...refusals(400, 404) },
    handler: deleteWorkspace,
  },
  {
    ...WORKSPACES,
    method: 'GET',
    path: '/workspaces/{id}/budgets',
    operationId: 'listWorkspaceBudgets',
    summary: 'Budgets of a workspace',
    request: NOTHING_DECLARED,
    responses: { 200: ok(budgetListSchema), ...refusals(404) },
    handler: listBudgets,
  },
  {
    ...WORKSPACES,
    method: 'GET',
    path: '/workspaces/{id}/budgets/{interval}',
    operationId: 'getWorkspaceBudget',
    summary: 'The budget for daily, weekly, monthly or lifetime',
    request: NOTHING_DECLARED,
    responses: { 200: ok(budgetReplySchema), ...refusals(400, 404) },
    handler: showBudget,
  },
  {
    ...WORKSPACES,
    method: 'PUT',
    path: '/workspaces/{id}/budgets/{interval}',
    operationId: 'setWorkspaceBudget',
    summary: 'Set a budget: more than those of shorter windows, less than those of longer ones',
    request: body(setBudgetSchema),
    responses: { 200: ok(budgetReplySchema), ...refusals(400, 404, 413, 415) },
    handler: setBudget,
  },
  {
    ...WORKSPACES,
    method: 'DELETE',
    path: '/workspaces/{id}/budgets/{interval}',
    operationId: 'deleteWorkspaceBudget',
    summary: 'Delete a budget, if it is there',
    request: NOTHING_DECLARED,
    responses: { 200: ok(deletedSchema), ...refusals(400, 404) },
    handler: deleteBudget,
  },
  {
    ...CREDITS,
    method: 'GET',
    path: '/credits',
    operationId: 'getCredits',
    summary: 'The balance of the account',
    request: NOTHING_DECLARED,
    responses: { 200: ok(creditsSchema), ...refusals() },
    handler: showCredits,
  },
  {
    ...CREDITS,
    auth: 'none',
    method: 'POST',
    path: '/credits/coinbase',
    operationId: 'createCoinbaseCharge',
    summary: 'Removed: credits are granted by the operator',
    request: NOTHING_DECLARED,
    responses: errors(errorEnvelopeSchema, [410, 500]),
    handler: refusePurchase,
  },
];
