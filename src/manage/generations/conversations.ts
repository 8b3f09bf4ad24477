import {
  type ConversationObject,
  type ConversationsQuery,
  type ConversationsReply,
  DEFAULT_CONVERSATIONS,
} from '../../contract/generations/conversation.ts';
import { isoTime, isoTimeOrNull } from '../../contract/values/iso-time.ts';
import { usdOf } from '../../kit/money.ts';
import type { Clock } from '../../kit/time/clock.ts';
import {
  CONVERSATION_SORT_VALUES,
  type Conversation,
  type ConversationPosition,
  type ConversationSort,
  type EventStore,
} from '../../ports/events/events.ts';
import { filterOf, type LogViewer, rangeOf } from './log-filter.ts';
import { type LogNameSources, LogNames } from './log-names.ts';

export interface ConversationListDependencies extends LogNameSources {
  readonly events: Pick<EventStore, 'conversations'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** What a list is in order of, by the name that a query gives. */
const SORTS: Readonly<Record<NonNullable<ConversationsQuery['sort']>, ConversationSort>> = {
  last_at: 'last',
  duration_ms: 'duration',
  generations: 'generations',
  tokens: 'tokens',
  cost: 'cost',
  failed: 'failed',
};

/** Lists conversations: the generations of a workspace with the same session id. */
export class ConversationList {
  readonly #dependencies: ConversationListDependencies;

  constructor(dependencies: ConversationListDependencies) {
    this.#dependencies = dependencies;
  }

  /** A page. Throws 400. */
  async list(
    viewer: LogViewer,
    wanted: ConversationsQuery,
    signal: AbortSignal,
  ): Promise<ConversationsReply> {
    const { events, clock } = this.#dependencies;
    const { search, sort: sortName = 'last_at', order = 'desc', limit = DEFAULT_CONVERSATIONS } = wanted;
    const { after, ...filters } = wanted;
    const range = rangeOf(filters, clock.now());
    const filter = filterOf(viewer, { ...filters, search: undefined }, range);
    if (filter === null) return { data: [], next: null, missing_before: null };
    const sort = SORTS[sortName];
    const { conversations, missingBeforeMs } = await events.conversations(
      {
        ...filter,
        sessionSearch: search === undefined || search === '' ? null : search,
        sort,
        order,
        after: positionOf(after),
        // One more shows whether there is a further page.
        limit: limit + 1,
      },
      signal,
    );
    const page = conversations.slice(0, limit);
    const last = conversations.length > limit ? page.at(-1) : undefined;
    const names = new LogNames(this.#dependencies, viewer.accountId);
    await names.learn(page);
    return {
      data: page.map((conversation) => conversationObject(conversation, names)),
      next: last === undefined ? null : cursorOf(last, sort),
      missing_before: isoTimeOrNull(missingBeforeMs),
    };
  }
}

/** The place of a conversation as a text that callers hand back. */
function cursorOf(conversation: Conversation, sort: ConversationSort): string {
  const { workspaceId, sessionId } = conversation;
  return `${CONVERSATION_SORT_VALUES[sort](conversation)}.${workspaceId}.${sessionId}`;
}

/** The position of a cursor, whose form the schema has checked; null = there is none. */
function positionOf(cursor: string | undefined): ConversationPosition | null {
  if (cursor === undefined) return null;
  const [value = '', workspaceId = '', ...session] = cursor.split('.');
  return { value: BigInt(value), workspaceId, sessionId: session.join('.') };
}

function conversationObject(conversation: Conversation, names: LogNames): ConversationObject {
  const { workspaceId, keyHash, firstMs, endMs } = conversation;
  return {
    session_id: conversation.sessionId,
    workspace_id: workspaceId,
    workspace_name: names.workspace(workspaceId),
    key_hash: keyHash,
    key_name: keyHash === null ? null : names.key(keyHash),
    app: conversation.app,
    external_user: conversation.externalUser,
    models: [...conversation.models],
    generations: conversation.generations,
    failed: conversation.failed,
    refused: conversation.refused,
    tokens_prompt: conversation.promptTokens,
    tokens_completion: conversation.completionTokens,
    tokens_reasoning: conversation.reasoningTokens,
    tokens_cached: conversation.cachedTokens,
    cost: usdOf(conversation.creditNanos),
    byok_cost: usdOf(conversation.byokNanos),
    first_at: isoTime(firstMs),
    last_at: isoTime(conversation.lastMs),
    duration_ms: endMs - firstMs,
  };
}
