import type { DialectName, Format } from '../ir/items.ts';
import { bedrock } from './bedrock/index.ts';
import { chat } from './chat/index.ts';
import type { Dialect, FormatDialect } from './dialect.ts';
import { gemini } from './gemini/index.ts';
import { messages } from './messages/index.ts';
import { responses } from './responses/index.ts';

/** Dialects by name; those of formats have an inbound half. */
export type Dialects = Readonly<Record<Format, FormatDialect> & Record<DialectName, Dialect>>;

/** Every dialect. The only table by format or dialect: whatever differs between them is a member of the dialect. */
export const DIALECTS: Dialects = { responses, messages, chat, gemini, bedrock };

/** The dialects that callers speak. */
export const FORMATS: readonly FormatDialect[] = [responses, messages, chat];
