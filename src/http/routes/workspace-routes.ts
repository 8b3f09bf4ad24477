import { budgetObject, type SetBudget } from '../../contract/budget.ts';
import {
  type CreateWorkspace,
  type UpdateWorkspace,
  type WorkspacesQuery,
  workspaceObject,
} from '../../contract/workspace.ts';
import { callerOf } from './caller-of.ts';
import type { Call, Handler } from './route.ts';

/** `POST /workspaces`. */
export const createWorkspace: Handler = async (call) => {
  const { key } = callerOf(call);
  const workspace = await call.services.workspaces.create(key, call.body as CreateWorkspace);
  call.exchange.reply.json(201, { data: workspaceObject(workspace) });
};

/** `GET /workspaces`. */
export const listWorkspaces: Handler = async (call) => {
  const { accountId } = callerOf(call);
  const { workspaces, total } = await call.services.workspaces.list(accountId, call.query as WorkspacesQuery);
  call.exchange.reply.json(200, { data: workspaces.map(workspaceObject), total_count: total });
};

/** `GET /workspaces/{id}`. */
export const showWorkspace: Handler = async (call) => {
  const workspace = await call.services.workspaces.get(...placeOf(call));
  call.exchange.reply.json(200, { data: workspaceObject(workspace) });
};

/** `PATCH /workspaces/{id}`. */
export const updateWorkspace: Handler = async (call) => {
  const workspace = await call.services.workspaces.update(...placeOf(call), call.body as UpdateWorkspace);
  call.exchange.reply.json(200, { data: workspaceObject(workspace) });
};

/** `DELETE /workspaces/{id}`. */
export const deleteWorkspace: Handler = async (call) => {
  await call.services.workspaces.delete(...placeOf(call));
  call.exchange.reply.json(200, { deleted: true });
};

/** `GET /workspaces/{id}/budgets`. */
export const listBudgets: Handler = async (call) => {
  const { budgets, includeByok } = await call.services.budgets.list(...placeOf(call));
  call.exchange.reply.json(200, { data: budgets.map(budgetObject), include_byok_in_budgets: includeByok });
};

/** `GET /workspaces/{id}/budgets/{interval}`. */
export const showBudget: Handler = async (call) => {
  const { budget, includeByok } = await call.services.budgets.get(...placeOf(call), intervalOf(call));
  call.exchange.reply.json(200, { data: budgetObject(budget), include_byok_in_budgets: includeByok });
};

/** `PUT /workspaces/{id}/budgets/{interval}`. */
export const setBudget: Handler = async (call) => {
  const { budget, includeByok } = await call.services.budgets.set(
    ...placeOf(call),
    intervalOf(call),
    call.body as SetBudget,
  );
  call.exchange.reply.json(200, { data: budgetObject(budget), include_byok_in_budgets: includeByok });
};

/** `DELETE /workspaces/{id}/budgets/{interval}`. */
export const deleteBudget: Handler = async (call) => {
  await call.services.budgets.delete(...placeOf(call), intervalOf(call));
  call.exchange.reply.json(200, { deleted: true });
};

/** The account, and the id or slug of the workspace. */
function placeOf(call: Call): [accountId: string, idOrSlug: string] {
  return [callerOf(call).accountId, call.params.id ?? ''];
}

function intervalOf({ params }: Call): string {
  return params.interval ?? '';
}
