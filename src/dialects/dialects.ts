import type { DialectName, EmbeddingDialectName, RequestFormat } from '../ir/items.ts';
import { bedrockEmbeddings } from './bedrock/embeddings.ts';
import { bedrock } from './bedrock/index.ts';
import { chat } from './chat/index.ts';
import { cohereEmbeddings } from './cohere/embeddings.ts';
import type { ConversationDialect, Dialect, FormatDialect } from './dialect.ts';
import { embeddings } from './embeddings/index.ts';
import { geminiEmbeddings } from './gemini/embeddings.ts';
import { gemini } from './gemini/index.ts';
import { messages } from './messages/index.ts';
import { responses } from './responses/index.ts';

/** Dialects by name; those of formats have an inbound half. */
export type Dialects = Readonly<
  Record<RequestFormat, FormatDialect> & Record<DialectName | EmbeddingDialectName, Dialect>
>;

/** Every dialect. The only table by format or dialect: every difference between them is a member of the dialect. */
export const DIALECTS: Dialects = {
  responses,
  messages,
  chat,
  gemini,
  bedrock,
  embeddings,
  'gemini-embeddings': geminiEmbeddings,
  'bedrock-embeddings': bedrockEmbeddings,
  'cohere-embeddings': cohereEmbeddings,
};

/** The formats of conversations. */
export const FORMATS: readonly ConversationDialect[] = [responses, messages, chat];

/** All formats. */
export const REQUEST_FORMATS: readonly FormatDialect[] = [...FORMATS, embeddings];
