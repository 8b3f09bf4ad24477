import type {
  Conversation,
  ConversationPosition,
  ConversationsQuery,
  LogFilter,
} from '../../ports/events/events.ts';
import { MAX_CONVERSATION_MODELS } from '../../ports/events/events.ts';
import { FIRST_SEARCHED_MS, partsOf } from './log-parts.ts';

/** A conversation of a page. */
export type ConversationKey = Pick<ConversationPosition, 'workspaceId' | 'sessionId'>;

/** The part of the range in which the last generation of a conversation arrived. */
export type LastArrival = Pick<LogFilter, 'fromMs' | 'toMs'>;

export type ConversationFigures = Omit<Conversation, 'models'>;

export interface ModelUse extends ConversationKey {
  readonly model: string;
  readonly generations: number;
}

/** The questions to a store of which a page is made. */
export interface ConversationReader {
  /**
   * The first conversations in the order of the query, behind its position. `last`: those alone whose last generation
   * arrived there; null = all.
   */
  page(query: ConversationsQuery, last: LastArrival | null): Promise<readonly ConversationKey[]>;
  /** Figures of all conversations with one of these session ids, those of other workspaces too. */
  figures(sessionIds: readonly string[]): Promise<readonly ConversationFigures[]>;
  /** The most used models of the same. */
  models(sessionIds: readonly string[]): Promise<readonly ModelUse[]>;
}

/**
 * Reads a page of conversations: first which they are, from as few columns as possible, then the figures of these
 * alone. Of those with the latest generation the newest parts of the range nearly always have enough; in any other
 * order each generation of the range is looked at.
 */
export async function readConversations(
  query: ConversationsQuery,
  reader: ConversationReader,
): Promise<readonly Conversation[]> {
  const keys = await keysOfPage(query, reader);
  if (keys.length === 0) return [];
  const sessionIds = [...new Set(keys.map(({ sessionId }) => sessionId))];
  const figures = new Map((await reader.figures(sessionIds)).map((each) => [nameOf(each), each]));
  const models = modelsOf(await reader.models(sessionIds));
  return keys.flatMap((key) => {
    // Retention may have removed it in between.
    const found = figures.get(nameOf(key));
    return found === undefined ? [] : [{ ...found, models: models.get(nameOf(key)) ?? [] }];
  });
}

async function keysOfPage(
  query: ConversationsQuery,
  reader: ConversationReader,
): Promise<readonly ConversationKey[]> {
  if (query.sort !== 'last' || query.order !== 'desc') return reader.page(query, null);
  const { fromMs, after, limit } = query;
  const toMs = after === null ? query.toMs : Math.min(query.toMs, Number(after.value) + 1);
  const keys: ConversationKey[] = [];
  const reading = { isNewestFirst: true, firstMs: FIRST_SEARCHED_MS, alignedMs: 1, stopAfterMs: null };
  for (const part of partsOf({ fromMs, toMs }, reading)) {
    keys.push(...(await reader.page({ ...query, limit: limit - keys.length }, part)));
    if (keys.length >= limit) break;
  }
  return keys;
}

/** Workspaces have UUIDs, so that the first space ends theirs. */
function nameOf({ workspaceId, sessionId }: ConversationKey): string {
  return `${workspaceId} ${sessionId}`;
}

/** Models of each conversation, the most used first. */
function modelsOf(uses: readonly ModelUse[]): ReadonlyMap<string, readonly string[]> {
  const models = new Map<string, string[]>();
  const mostUsedFirst = uses.toSorted(
    (one, other) => other.generations - one.generations || (one.model < other.model ? -1 : 1),
  );
  for (const use of mostUsedFirst) {
    const name = nameOf(use);
    const known = models.get(name) ?? [];
    models.set(name, known);
    if (known.length < MAX_CONVERSATION_MODELS) known.push(use.model);
  }
  return models;
}
