import Type, { type Static } from 'typebox';
import { APP_CATEGORIES, type AppCategory, type AppCategoryGroup } from '../../ir/apps/app-categories.ts';
import { nullish, oneOf } from '../../kit/json/schema.ts';
import { DATASET_WINDOW, datasetMeta, datasetMetaSchema, type ShownDataset } from './dataset-window.ts';

export const APP_RANKING_SORTS = ['popular', 'trending'] as const;

export type AppRankingSort = (typeof APP_RANKING_SORTS)[number];

const GROUPS = Object.keys(APP_CATEGORIES) as AppCategoryGroup[];
const CATEGORIES: readonly AppCategory[] = Object.values(APP_CATEGORIES).flat();

export const appRankingsQuerySchema = Type.Object({
  category: Type.Optional(oneOf(GROUPS, { description: 'Only apps with a category of this group.' })),
  subcategory: Type.Optional(
    oneOf(CATEGORIES, { description: 'Only apps of this category; it must be of the group in `category`.' }),
  ),
  sort: Type.Optional(
    oneOf(APP_RANKING_SORTS, {
      description:
        '`popular`: by tokens in the window. `trending`: by how much these exceed the mean of the three ' +
        'windows of the same length right before; apps that do not exceed it are left out.',
    }),
  ),
  ...DATASET_WINDOW,
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Page size; 50 without it.' })),
  offset: nullish(
    Type.Integer({ minimum: 0, maximum: 100, description: 'Apps to skip. Ranks do not change by it.' }),
  ),
});

export type AppRankingsQuery = Static<typeof appRankingsQuerySchema>;

export const appRankingSchema = Type.Object(
  {
    app_id: Type.Integer(),
    app_name: Type.String({ description: 'Its title; its host while it has none.' }),
    rank: Type.Integer({ description: 'From 1, whatever the offset.' }),
    total_requests: Type.Integer(),
    total_tokens: Type.String({ description: 'Prompt and completion, a whole number.' }),
  },
  { description: 'An app and what it used in the window.' },
);

export const appRankingsReplySchema = Type.Object({
  data: Type.Array(appRankingSchema),
  meta: datasetMetaSchema,
});

export type AppRankingsReply = Static<typeof appRankingsReplySchema>;

export interface ShownRankedApp {
  readonly id: number;
  readonly name: string;
  readonly rank: number;
  readonly requests: bigint;
  readonly tokens: bigint;
}

export function appRankingsReply(
  rankings: ShownDataset & { readonly apps: readonly ShownRankedApp[] },
): AppRankingsReply {
  return {
    data: rankings.apps.map(({ id, name, rank, requests, tokens }) => ({
      app_id: id,
      app_name: name,
      rank,
      total_requests: Number(requests),
      total_tokens: String(tokens),
    })),
    meta: datasetMeta(rankings),
  };
}
