import { deletedSchema } from '../contract/envelopes/deleted.ts';
import {
  budgetListSchema,
  budgetObject,
  budgetReplySchema,
  setBudgetSchema,
} from '../contract/workspaces/budget.ts';
import {
  createWorkspaceSchema,
  updateWorkspaceSchema,
  workspaceListSchema,
  workspaceObject,
  workspaceReplySchema,
  workspacesQuerySchema,
} from '../contract/workspaces/workspace.ts';
import { type AnyEndpoint, endpoint } from './endpoint.ts';
import { DELETED, MANAGEMENT, placeOf } from './endpoint-parts.ts';

const WORKSPACES = { ...MANAGEMENT, tag: 'Workspaces' } as const;

export const WORKSPACE_ENDPOINTS: readonly AnyEndpoint[] = [
  endpoint({
    ...WORKSPACES,
    method: 'POST',
    path: '/workspaces',
    operationId: 'createWorkspace',
    summary: 'Make a workspace',
    permission: 'workspaces.change',
    body: createWorkspaceSchema,
    reply: workspaceReplySchema,
    status: 201,
    refusals: [409],
    run: async (call) => {
      const workspace = await call.services.workspaces.create(call.caller.key, call.body);
      return { data: workspaceObject(workspace) };
    },
  }),
  endpoint({
    ...WORKSPACES,
    method: 'GET',
    path: '/workspaces',
    operationId: 'listWorkspaces',
    summary: 'Workspaces of the account, oldest first',
    permission: 'workspaces.read',
    query: workspacesQuerySchema,
    reply: workspaceListSchema,
    run: async (call) => {
      const { accountId } = call.caller;
      const { workspaces, total } = await call.services.workspaces.list(accountId, call.query);
      const budgets =
        call.query.include_budgets === true ? await call.services.budgets.listOf(workspaces) : null;
      const data = workspaces.map((workspace) =>
        workspaceObject(
          workspace,
          budgets?.get(workspace.id)?.map((budget) => budgetObject(budget, workspace.budgetsFileMember)),
        ),
      );
      return { data, total_count: total };
    },
  }),
  endpoint({
    ...WORKSPACES,
    method: 'GET',
    path: '/workspaces/{id}',
    operationId: 'getWorkspace',
    summary: 'One workspace, by id or slug',
    permission: 'workspaces.read',
    reply: workspaceReplySchema,
    refusals: [404],
    run: async (call) => ({ data: workspaceObject(await call.services.workspaces.get(...placeOf(call))) }),
  }),
  endpoint({
    ...WORKSPACES,
    method: 'PATCH',
    path: '/workspaces/{id}',
    operationId: 'updateWorkspace',
    summary: 'Change a workspace',
    permission: 'workspaces.change',
    body: updateWorkspaceSchema,
    reply: workspaceReplySchema,
    refusals: [404, 409],
    run: async (call) => {
      const workspace = await call.services.workspaces.update(...placeOf(call), call.body);
      return { data: workspaceObject(workspace) };
    },
  }),
  endpoint({
    ...WORKSPACES,
    method: 'DELETE',
    path: '/workspaces/{id}',
    operationId: 'deleteWorkspace',
    summary: 'Delete a workspace without active keys, with its budgets, credentials and files',
    permission: 'workspaces.change',
    reply: deletedSchema,
    refusals: [400, 404, 409],
    run: async (call) => {
      await call.services.workspaces.delete(...placeOf(call));
      return DELETED;
    },
  }),
  endpoint({
    ...WORKSPACES,
    method: 'GET',
    path: '/workspaces/{id}/budgets',
    operationId: 'listWorkspaceBudgets',
    summary: 'Budgets of a workspace',
    permission: 'budgets.read',
    reply: budgetListSchema,
    refusals: [404],
    run: async (call) => {
      const { budgets, includeByok, fileMember } = await call.services.budgets.list(...placeOf(call));
      return {
        data: budgets.map((budget) => budgetObject(budget, fileMember)),
        include_byok_in_budgets: includeByok,
      };
    },
  }),
  endpoint({
    ...WORKSPACES,
    method: 'GET',
    path: '/workspaces/{id}/budgets/{interval}',
    operationId: 'getWorkspaceBudget',
    summary: 'The budget for daily, weekly, monthly or lifetime',
    permission: 'budgets.read',
    reply: budgetReplySchema,
    refusals: [400, 404],
    run: async (call) => {
      const { budget, includeByok, fileMember } = await call.services.budgets.get(
        ...placeOf(call),
        call.params.interval,
      );
      return {
        data: budgetObject(budget, fileMember),
        include_byok_in_budgets: includeByok,
      };
    },
  }),
  endpoint({
    ...WORKSPACES,
    method: 'PUT',
    path: '/workspaces/{id}/budgets/{interval}',
    operationId: 'setWorkspaceBudget',
    summary: 'Set a budget: more than those of shorter windows, less than those of longer ones',
    permission: 'budgets.change',
    body: setBudgetSchema,
    reply: budgetReplySchema,
    refusals: [404, 409],
    run: async (call) => {
      const { budget, includeByok, fileMember } = await call.services.budgets.set(
        ...placeOf(call),
        call.params.interval,
        call.body,
      );
      return {
        data: budgetObject(budget, fileMember),
        include_byok_in_budgets: includeByok,
      };
    },
  }),
  endpoint({
    ...WORKSPACES,
    method: 'DELETE',
    path: '/workspaces/{id}/budgets/{interval}',
    operationId: 'deleteWorkspaceBudget',
    summary: 'Delete a budget, if it is there',
    permission: 'budgets.change',
    reply: deletedSchema,
    refusals: [400, 404, 409],
    run: async (call) => {
      await call.services.budgets.delete(...placeOf(call), call.params.interval);
      return DELETED;
    },
  }),
];
