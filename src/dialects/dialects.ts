import type { DialectName, EmbeddingDialectName, Format } from '../ir/items.ts';
import { bedrock } from './bedrock/index.ts';
import { chat } from './chat/index.ts';
import { cohere } from './cohere/index.ts';
import { decisions } from './decisions/index.ts';
import type {
  ConversationDialect,
  ConversationFormat,
  DecisionFormat,
  Dialect,
  EmbeddingDialect,
  EmbeddingFormat,
  FormatDialect,
} from './dialect.ts';
import { embeddings } from './embeddings/index.ts';
import { gemini } from './gemini/index.ts';
import { messages } from './messages/index.ts';
import { responses } from './responses/index.ts';

/** Dialects by name; those of formats have an inbound half. */
export type Dialects = Readonly<
  Record<Format, ConversationFormat> &
    Record<Exclude<DialectName, Format>, ConversationDialect> &
    Record<'embeddings', EmbeddingFormat> &
    Record<'decisions', DecisionFormat> &
    Record<'system-one', Dialect> &
    Record<'compaction', FormatDialect> &
    Record<Exclude<EmbeddingDialectName, 'embeddings'>, EmbeddingDialect>
>;

/** Every dialect. The only table by format or dialect: every difference between them is a member of the dialect. */
export const DIALECTS: Dialects = {
  responses,
  compaction: responses.compaction,
  messages,
  chat,
  gemini,
  bedrock,
  embeddings,
  decisions,
  'system-one': decisions.systemOne,
  'gemini-embeddings': gemini.embeddings,
  'bedrock-embeddings': bedrock.embeddings,
  'cohere-embeddings': cohere,
};

export const FORMATS: readonly ConversationFormat[] = [responses, messages, chat];

export const REQUEST_FORMATS: readonly FormatDialect[] = [
  ...FORMATS,
  embeddings,
  decisions,
  responses.compaction,
];
