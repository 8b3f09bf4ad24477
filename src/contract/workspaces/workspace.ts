import Type, { type Static } from 'typebox';
import { closed, nullish, oneOf } from '../../kit/json/schema.ts';
import { workspaceGuardrailId } from '../guardrails/default-guardrail-ids.ts';
import { isoTime, isoTimeOrNull } from '../values/iso-time.ts';
import { managedBy, managedBySchema } from '../values/managed-by.ts';
import { nullable } from '../values/nullable.ts';
import { readableText, storableText } from '../values/readable-text.ts';
import { type BudgetObject, budgetSchema } from './budget.ts';

const MAX_NAME_CHARACTERS = 100;
const MAX_SLUG_CHARACTERS = 50;
const MAX_DESCRIPTION_CHARACTERS = 500;
const MAX_MODEL_CHARACTERS = 256;
const MAX_LISTED_KEYS = 1000;

const name = readableText(MAX_NAME_CHARACTERS);

const slug = Type.String({
  minLength: 1,
  maxLength: MAX_SLUG_CHARACTERS,
  pattern: '^[a-z0-9]+(?:-[a-z0-9]+)*$',
  description: 'Lower-case letters, digits and single hyphens between them; unique in the account.',
});

const KEPT = 'Kept and shown; it steers nothing in this version.';

const model = readableText(MAX_MODEL_CHARACTERS);

/** Settings of a workspace that can be set at its creation and changed later, besides its names. */
const changeable = {
  description: nullish(storableText(MAX_DESCRIPTION_CHARACTERS)),
  default_text_model: Type.Optional(
    nullable(model, {
      description: 'The model of requests that name none, in the formats in which it may be left out.',
    }),
  ),
  default_image_model: Type.Optional(nullable(model, { description: KEPT })),
  default_provider_sort: Type.Optional(
    nullable(oneOf(['price', 'throughput', 'latency', 'exacto']), {
      description: '`provider.sort` of requests that give neither `sort` nor `order`.',
    }),
  ),
  is_observability_io_logging_enabled: Type.Optional(
    Type.Boolean({ description: 'Whether prompts and outputs of later requests are stored.' }),
  ),
  is_observability_broadcast_enabled: Type.Optional(
    Type.Boolean({ description: 'Whether later generations are sent to the destinations of the workspace.' }),
  ),
  is_data_discount_logging_enabled: Type.Optional(
    Type.Boolean({ description: `${KEPT} Nothing is used or discounted.` }),
  ),
  io_logging_sampling_rate: Type.Optional(
    Type.Number({ minimum: 0.0001, maximum: 1, description: 'Share of the requests that are stored.' }),
  ),
  io_logging_api_key_ids: Type.Optional(
    nullable(Type.Array(Type.Integer({ minimum: 0 }), { maxItems: MAX_LISTED_KEYS }), {
      description:
        'Numbers of the keys whose requests are stored; null = all. Keys of this gateway have no ' +
        'numbers: with a list nothing is stored.',
    }),
  ),
};

export const createWorkspaceSchema = closed({ name, slug, ...changeable });

export type CreateWorkspace = Static<typeof createWorkspaceSchema>;

/** Body of `PATCH /workspaces/{id}`: absent members stay unchanged. */
export const updateWorkspaceSchema = closed({
  name: Type.Optional(name),
  slug: Type.Optional(slug),
  ...changeable,
});

export type UpdateWorkspace = Static<typeof updateWorkspaceSchema>;

export const workspacesQuerySchema = Type.Object({
  offset: nullish(Type.Integer({ minimum: 0, description: 'Workspaces to skip.' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Page size; 50 without it.' })),
  include_budgets: nullish(Type.Boolean({ description: 'Adds `budgets` to every workspace.' })),
});

export type WorkspacesQuery = Static<typeof workspacesQuerySchema>;

/** A workspace, with the fields of every client generation. */
export const workspaceSchema = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    name: Type.String(),
    slug: Type.String(),
    description: nullable(Type.String()),
    default_text_model: nullable(Type.String()),
    default_image_model: nullable(Type.String()),
    default_provider_sort: nullable(Type.String()),
    default_guardrail_id: Type.String({
      format: 'uuid',
      description:
        'The guardrail of all keys of the workspace. It exists from the first `PATCH /guardrails/{id}` on.',
    }),
    is_observability_io_logging_enabled: Type.Boolean(),
    is_observability_broadcast_enabled: Type.Boolean(),
    is_data_discount_logging_enabled: Type.Boolean(),
    io_logging_sampling_rate: Type.Number(),
    io_logging_api_key_ids: nullable(Type.Array(Type.Integer())),
    include_byok_in_budgets: Type.Boolean({
      description: 'What BYOK credentials served counts towards the budgets. Set with a budget.',
    }),
    created_by: nullable(Type.String()),
    created_at: Type.String({ format: 'date-time' }),
    updated_at: nullable(Type.String({ format: 'date-time' })),
    managed_by: managedBySchema,
    budgets: Type.Optional(
      Type.Array(budgetSchema, {
        description: 'Its budgets, the shortest window first. Only in lists with `include_budgets`.',
      }),
    ),
  },
  { description: 'A part of an account that has keys, credentials and budgets of its own.' },
);

export type WorkspaceObject = Static<typeof workspaceSchema>;

export const workspaceReplySchema = Type.Object({ data: workspaceSchema });

export const workspaceListSchema = Type.Object({
  data: Type.Array(workspaceSchema),
  total_count: Type.Integer({ description: 'All workspaces, on every page.' }),
});

export interface ShownWorkspace {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly description: string | null;
  readonly defaultTextModel: string | null;
  readonly defaultImageModel: string | null;
  readonly defaultProviderSort: string | null;
  readonly isObservabilityIoLoggingEnabled: boolean;
  readonly isObservabilityBroadcastEnabled: boolean;
  readonly isDataDiscountLoggingEnabled: boolean;
  readonly ioLoggingSamplingRate: number;
  readonly ioLoggingApiKeyIds: readonly number[] | null;
  readonly includeByokInBudgets: boolean;
  readonly createdBy: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number | null;
  readonly fileMember: string | null;
}

/** A workspace as the routes show it. `budgets`: undefined = they were not asked for. */
export function workspaceObject(workspace: ShownWorkspace, budgets?: BudgetObject[]): WorkspaceObject {
  const { ioLoggingApiKeyIds } = workspace;
  return {
    id: workspace.id,
    name: workspace.name,
    slug: workspace.slug,
    description: workspace.description,
    default_text_model: workspace.defaultTextModel,
    default_image_model: workspace.defaultImageModel,
    default_provider_sort: workspace.defaultProviderSort,
    default_guardrail_id: workspaceGuardrailId(workspace.id),
    is_observability_io_logging_enabled: workspace.isObservabilityIoLoggingEnabled,
    is_observability_broadcast_enabled: workspace.isObservabilityBroadcastEnabled,
    is_data_discount_logging_enabled: workspace.isDataDiscountLoggingEnabled,
    io_logging_sampling_rate: workspace.ioLoggingSamplingRate,
    io_logging_api_key_ids: ioLoggingApiKeyIds === null ? null : [...ioLoggingApiKeyIds],
    include_byok_in_budgets: workspace.includeByokInBudgets,
    created_by: workspace.createdBy,
    created_at: isoTime(workspace.createdAtMs),
    updated_at: isoTimeOrNull(workspace.updatedAtMs),
    managed_by: managedBy(workspace.fileMember),
    ...(budgets !== undefined && { budgets }),
  };
}
