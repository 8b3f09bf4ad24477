import Type, { type Static } from 'typebox';
import { closed, oneOf } from '../../kit/json/schema.ts';
import { MAX_USD, type Nanos, usdOf } from '../../kit/money.ts';
import { type LimitWindow, RESET_WINDOWS } from '../../kit/time/windows.ts';
import { isoTime } from '../values/iso-time.ts';
import { managedBy, managedBySchema } from '../values/managed-by.ts';
import { nullable } from '../values/nullable.ts';

export const setBudgetSchema = closed({
  limit_usd: Type.Number({
    exclusiveMinimum: 0,
    maximum: MAX_USD,
    description: 'The most that the workspace may spend; finer than a nano-dollar is rounded half up.',
  }),
  include_byok_in_budgets: Type.Optional(
    Type.Boolean({
      description: 'What BYOK credentials served counts towards every budget of the workspace.',
    }),
  ),
});

export type SetBudget = Static<typeof setBudgetSchema>;

export const budgetSchema = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    workspace_id: Type.String({ format: 'uuid' }),
    limit_usd: Type.Number(),
    used_usd: Type.Number({
      description: 'Spent in the current window; requests in flight are not counted.',
    }),
    left_usd: Type.Number({ description: 'What is left of the limit, at least 0.' }),
    reset_interval: nullable(oneOf(RESET_WINDOWS), { description: 'Null = never resets.' }),
    created_at: Type.String({ format: 'date-time' }),
    updated_at: Type.String({ format: 'date-time' }),
    managed_by: managedBySchema,
  },
  { description: 'The most that a workspace may spend in a window (UTC, weeks begin on Monday).' },
);

export type BudgetObject = Static<typeof budgetSchema>;

const includeByok = Type.Boolean({
  description: 'What BYOK credentials served counts towards the budgets, at its list price.',
});

export const budgetReplySchema = Type.Object({ data: budgetSchema, include_byok_in_budgets: includeByok });

export const budgetListSchema = Type.Object({
  data: Type.Array(budgetSchema),
  include_byok_in_budgets: includeByok,
});

export interface ShownBudget {
  readonly id: string;
  readonly workspaceId: string;
  readonly window: LimitWindow;
  readonly limitNanos: Nanos;
  readonly usedNanos: Nanos;
  readonly leftNanos: Nanos;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** A budget as the routes show it. `fileMember`: where the configuration file declares the workspace's budgets. */
export function budgetObject(budget: ShownBudget, fileMember: string | null): BudgetObject {
  return {
    id: budget.id,
    workspace_id: budget.workspaceId,
    limit_usd: usdOf(budget.limitNanos),
    used_usd: usdOf(budget.usedNanos),
    left_usd: usdOf(budget.leftNanos),
    reset_interval: budget.window === 'lifetime' ? null : budget.window,
    created_at: isoTime(budget.createdAtMs),
    updated_at: isoTime(budget.updatedAtMs),
    managed_by: managedBy(fileMember),
  };
}
