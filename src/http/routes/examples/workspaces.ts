import type { BudgetObject, SetBudget } from '../../../contract/workspaces/budget.ts';
import type {
  CreateWorkspace,
  UpdateWorkspace,
  WorkspaceObject,
} from '../../../contract/workspaces/workspace.ts';
import type { RouteExample } from '../../route.ts';

const RESEARCH_ID = '0f646db3-2747-4ac0-92df-79730f0543df';

const WORKSPACE = {
  id: RESEARCH_ID,
  name: 'Research',
  slug: 'research',
  description: null,
  default_text_model: null,
  default_image_model: null,
  default_provider_sort: null,
  default_guardrail_id: '244e8f6e-5ff2-8cf6-a822-82b8b4462f0f',
  is_observability_io_logging_enabled: false,
  is_observability_broadcast_enabled: false,
  is_data_discount_logging_enabled: false,
  io_logging_sampling_rate: 1,
  io_logging_api_key_ids: null,
  include_byok_in_budgets: false,
  created_by: null,
  created_at: '2026-11-17T05:17:05.359Z',
  updated_at: null,
  managed_by: null,
} satisfies WorkspaceObject;

const BUDGET = {
  id: 'accb2a42-917a-4baa-b887-1923cbafc400',
  workspace_id: RESEARCH_ID,
  limit_usd: 500,
  used_usd: 0,
  left_usd: 500,
  reset_interval: 'monthly',
  created_at: '2026-11-17T05:17:05.381Z',
  updated_at: '2026-11-17T05:17:05.381Z',
  managed_by: null,
} satisfies BudgetObject;

const BY_SLUG = { id: 'research' };
const MONTHLY = { ...BY_SLUG, interval: 'monthly' };
const BUDGET_REPLY = { data: BUDGET, include_byok_in_budgets: false };

/** Workspaces and their budgets. */
export const WORKSPACE_EXAMPLES = {
  createWorkspace: {
    body: { name: 'Research', slug: 'research' } satisfies CreateWorkspace,
    answer: { data: WORKSPACE },
  },
  listWorkspaces: { answer: { data: [WORKSPACE], total_count: 1 } },
  getWorkspace: { params: BY_SLUG, answer: { data: WORKSPACE } },
  updateWorkspace: {
    params: BY_SLUG,
    body: { description: 'Experiments of the research team' } satisfies UpdateWorkspace,
    answer: {
      data: {
        ...WORKSPACE,
        description: 'Experiments of the research team',
        updated_at: '2026-11-17T05:20:00.000Z',
      },
    },
  },
  deleteWorkspace: { params: BY_SLUG, answer: { deleted: true } },
  listWorkspaceBudgets: { params: BY_SLUG, answer: { data: [BUDGET], include_byok_in_budgets: false } },
  getWorkspaceBudget: { params: MONTHLY, answer: BUDGET_REPLY },
  setWorkspaceBudget: {
    params: MONTHLY,
    body: { limit_usd: 500 } satisfies SetBudget,
    answer: BUDGET_REPLY,
  },
  deleteWorkspaceBudget: { params: MONTHLY, answer: { deleted: true } },
} as const satisfies Record<string, RouteExample>;
