import Type, { type Static } from 'typebox';
import { oneOf } from '../../kit/json/schema.ts';
import {
  DATASET_WINDOW,
  datasetMeta,
  datasetMetaSchema,
  dayText,
  type ShownDataset,
} from './dataset-window.ts';

const PERIODS = ['day', 'week', 'month'] as const;
const MODALITIES = ['text', 'image', 'image_output', 'audio', 'tool_calling'] as const;
const CONTEXT_BUCKETS = ['1K', '10K', '100K', '1M', '10M'] as const;
const LANGUAGE_TYPES = ['natural', 'programming'] as const;

const TOPICS = [
  'programming',
  'roleplay',
  'marketing',
  'marketing/seo',
  'technology',
  'science',
  'translation',
  'legal',
  'finance',
  'health',
  'trivia',
  'academia',
] as const;

const OF_CONTENT =
  'Goes with no other filter, and not with days. This gateway does not read content: nothing matches.';

export const rankingsDailyQuerySchema = Type.Object({
  ...DATASET_WINDOW,
  period: Type.Optional(
    oneOf(PERIODS, { description: 'What is summed up, `day` without it. UTC; weeks begin on Monday.' }),
  ),
  modality: Type.Optional(
    oneOf(MODALITIES, { description: 'Only generations with it; `text`: those without image and audio.' }),
  ),
  context_bucket: Type.Optional(
    oneOf(CONTEXT_BUCKETS, {
      description: 'Only prompts of up to so many tokens, and more than the one below.',
    }),
  ),
  category: Type.Optional(oneOf(TOPICS, { description: OF_CONTENT })),
  language_type: Type.Optional(oneOf(LANGUAGE_TYPES, { description: OF_CONTENT })),
});

export type RankingsDailyQuery = Static<typeof rankingsDailyQuerySchema>;

export const modelRankingSchema = Type.Object(
  {
    date: Type.String({ description: 'First day of the period, also where the window begins later.' }),
    model_permaslug: Type.String({ description: '`other`: all beyond the first 50.' }),
    total_tokens: Type.String({ description: 'Prompt and completion, a whole number.' }),
  },
  { description: 'What a model was used for in a period.' },
);

export const rankingsDailyReplySchema = Type.Object({
  data: Type.Array(modelRankingSchema),
  meta: datasetMetaSchema,
});

export type RankingsDailyReply = Static<typeof rankingsDailyReplySchema>;

export interface ShownRankedModel {
  readonly periodMs: number;
  readonly model: string;
  readonly tokens: bigint;
}

export function rankingsDailyReply(
  rankings: ShownDataset & { readonly models: readonly ShownRankedModel[] },
): RankingsDailyReply {
  return {
    data: rankings.models.map(({ periodMs, model, tokens }) => ({
      date: dayText(periodMs),
      model_permaslug: model,
      total_tokens: String(tokens),
    })),
    meta: datasetMeta(rankings),
  };
}
