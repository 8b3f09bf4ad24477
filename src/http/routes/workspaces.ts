import {
  budgetListSchema,
  budgetObject,
  budgetReplySchema,
  type SetBudget,
  setBudgetSchema,
} from '../../contract/workspaces/budget.ts';
import {
  type CreateWorkspace,
  createWorkspaceSchema,
  type UpdateWorkspace,
  updateWorkspaceSchema,
  type WorkspacesQuery,
  workspaceListSchema,
  workspaceObject,
  workspaceReplySchema,
  workspacesQuerySchema,
} from '../../contract/workspaces/workspace.ts';
import type { Call, Route } from '../route.ts';
import {
  callerOf,
  created,
  deletion,
  MANAGEMENT,
  managementRefusals,
  NOTHING_DECLARED,
  ok,
  placeOf,
  retrieval,
  withBody,
  withQuery,
} from './row-parts.ts';

const WORKSPACES = { ...MANAGEMENT, tag: 'Workspaces' } as const;

/** Workspaces and their budgets. */
export const WORKSPACE_ROUTES: readonly Route[] = [
  {
    ...WORKSPACES,
    method: 'POST',
    path: '/workspaces',
    operationId: 'createWorkspace',
    summary: 'Make a workspace',
    request: withBody(createWorkspaceSchema),
    responses: { 201: created(workspaceReplySchema), ...managementRefusals(400, 409, 413, 415) },
    handler: async (call) => {
      const { key } = callerOf(call);
      const workspace = await call.services.workspaces.create(key, call.body as CreateWorkspace);
      call.exchange.reply.json(201, { data: workspaceObject(workspace) });
    },
  },
  {
    ...WORKSPACES,
    method: 'GET',
    path: '/workspaces',
    operationId: 'listWorkspaces',
    summary: 'Workspaces of the account, oldest first',
    request: withQuery(workspacesQuerySchema),
    responses: { 200: ok(workspaceListSchema), ...managementRefusals(400) },
    handler: async (call) => {
      const { accountId } = callerOf(call);
      const query = call.query as WorkspacesQuery;
      const { workspaces, total } = await call.services.workspaces.list(accountId, query);
      const budgets = query.include_budgets === true ? await call.services.budgets.listOf(workspaces) : null;
      const data = workspaces.map((workspace) =>
        workspaceObject(
          workspace,
          budgets?.get(workspace.id)?.map((budget) => budgetObject(budget, workspace.budgetsFileMember)),
        ),
      );
      call.exchange.reply.json(200, { data, total_count: total });
    },
  },
  {
    ...WORKSPACES,
    ...retrieval(
      workspaceReplySchema,
      async (call) => workspaceObject(await call.services.workspaces.get(...placeOf(call))),
      404,
    ),
    path: '/workspaces/{id}',
    operationId: 'getWorkspace',
    summary: 'One workspace, by id or slug',
  },
  {
    ...WORKSPACES,
    method: 'PATCH',
    path: '/workspaces/{id}',
    operationId: 'updateWorkspace',
    summary: 'Change a workspace',
    request: withBody(updateWorkspaceSchema),
    responses: { 200: ok(workspaceReplySchema), ...managementRefusals(400, 404, 409, 413, 415) },
    handler: async (call) => {
      const workspace = await call.services.workspaces.update(...placeOf(call), call.body as UpdateWorkspace);
      call.exchange.reply.json(200, { data: workspaceObject(workspace) });
    },
  },
  {
    ...WORKSPACES,
    ...deletion((call) => call.services.workspaces.delete(...placeOf(call)), 400, 404, 409),
    path: '/workspaces/{id}',
    operationId: 'deleteWorkspace',
    summary: 'Delete a workspace without active keys, with its budgets, credentials and files',
  },
  {
    ...WORKSPACES,
    method: 'GET',
    path: '/workspaces/{id}/budgets',
    operationId: 'listWorkspaceBudgets',
    summary: 'Budgets of a workspace',
    request: NOTHING_DECLARED,
    responses: { 200: ok(budgetListSchema), ...managementRefusals(404) },
    handler: async (call) => {
      const { budgets, includeByok, fileMember } = await call.services.budgets.list(...placeOf(call));
      call.exchange.reply.json(200, {
        data: budgets.map((budget) => budgetObject(budget, fileMember)),
        include_byok_in_budgets: includeByok,
      });
    },
  },
  {
    ...WORKSPACES,
    method: 'GET',
    path: '/workspaces/{id}/budgets/{interval}',
    operationId: 'getWorkspaceBudget',
    summary: 'The budget for daily, weekly, monthly or lifetime',
    request: NOTHING_DECLARED,
    responses: { 200: ok(budgetReplySchema), ...managementRefusals(400, 404) },
    handler: async (call) => {
      const { budget, includeByok, fileMember } = await call.services.budgets.get(
        ...placeOf(call),
        intervalOf(call),
      );
      call.exchange.reply.json(200, {
        data: budgetObject(budget, fileMember),
        include_byok_in_budgets: includeByok,
      });
    },
  },
  {
    ...WORKSPACES,
    method: 'PUT',
    path: '/workspaces/{id}/budgets/{interval}',
    operationId: 'setWorkspaceBudget',
    summary: 'Set a budget: more than those of shorter windows, less than those of longer ones',
    request: withBody(setBudgetSchema),
    responses: { 200: ok(budgetReplySchema), ...managementRefusals(400, 404, 409, 413, 415) },
    handler: async (call) => {
      const { budget, includeByok, fileMember } = await call.services.budgets.set(
        ...placeOf(call),
        intervalOf(call),
        call.body as SetBudget,
      );
      call.exchange.reply.json(200, {
        data: budgetObject(budget, fileMember),
        include_byok_in_budgets: includeByok,
      });
    },
  },
  {
    ...WORKSPACES,
    ...deletion((call) => call.services.budgets.delete(...placeOf(call), intervalOf(call)), 400, 404, 409),
    path: '/workspaces/{id}/budgets/{interval}',
    operationId: 'deleteWorkspaceBudget',
    summary: 'Delete a budget, if it is there',
  },
];

function intervalOf({ params }: Call): string {
  return params.interval ?? '';
}
