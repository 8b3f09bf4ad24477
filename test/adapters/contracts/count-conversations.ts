import {
  CONVERSATION_SORT_VALUES,
  type Conversation,
  type ConversationsQuery,
  type GenerationEvent,
  MAX_CONVERSATION_MODELS,
} from '../../../src/ports/events/events.ts';
import { durationOf } from './count-events.ts';

/** All conversations of the events that a test lets through, in the order of a query, in plain TypeScript. */
export function countConversations(
  events: readonly GenerationEvent[],
  { accountId, fromMs, toMs, sort, order }: ConversationsQuery,
  isMatch: (event: GenerationEvent) => boolean = () => true,
): readonly Conversation[] {
  const groups = new Map<string, GenerationEvent[]>();
  for (const event of events) {
    const sessionId = event.log?.sessionId ?? null;
    if (sessionId === null || event.accountId !== accountId || !isMatch(event)) continue;
    if (event.createdAtMs < fromMs || event.createdAtMs >= toMs) continue;
    const name = JSON.stringify([event.workspaceId, sessionId]);
    groups.set(name, [...(groups.get(name) ?? []), event]);
  }
  const value = CONVERSATION_SORT_VALUES[sort];
  const sign = order === 'desc' ? -1 : 1;
  return [...groups.values()].map(conversationOf).sort((one, other) => {
    const [first, second] = [value(one), value(other)];
    if (first !== second) return first < second ? -sign : sign;
    if (one.workspaceId !== other.workspaceId) return one.workspaceId < other.workspaceId ? -sign : sign;
    return one.sessionId < other.sessionId ? -sign : sign;
  });
}

/** `events`: those of one conversation, in the order of their arrival. */
function conversationOf(events: readonly GenerationEvent[]): Conversation {
  const [first] = events as [GenerationEvent];
  const served = events.filter(({ refusedRequests }) => refusedRequests === undefined);
  const sum = (of: (event: GenerationEvent) => number) =>
    events.reduce((total, event) => total + of(event), 0);
  const money = (of: (event: GenerationEvent) => bigint) =>
    events.reduce((total, event) => total + of(event), 0n);
  const last = <Value>(of: (event: GenerationEvent) => Value | null) =>
    events.map(of).findLast((value) => value !== null) ?? null;
  const uses = new Map<string, number>();
  for (const { modelId } of served) uses.set(modelId, (uses.get(modelId) ?? 0) + 1);
  return {
    sessionId: first.log?.sessionId ?? '',
    workspaceId: first.workspaceId,
    firstMs: Math.min(...events.map(({ createdAtMs }) => createdAtMs)),
    lastMs: Math.max(...events.map(({ createdAtMs }) => createdAtMs)),
    endMs: Math.max(...events.map((event) => event.createdAtMs + (durationOf(event) ?? 0))),
    generations: served.length,
    failed: events.filter(({ log }) => log?.state === 'failed').length,
    refused: events.length - served.length,
    promptTokens: sum(({ promptTokens }) => promptTokens),
    completionTokens: sum(({ completionTokens }) => completionTokens),
    reasoningTokens: sum(({ reasoningTokens }) => reasoningTokens),
    cachedTokens: sum(({ cachedTokens }) => cachedTokens),
    creditNanos: money(({ creditNanos }) => creditNanos),
    byokNanos: money(({ byokNanos }) => byokNanos),
    keyHash: last(({ keyHash }) => keyHash),
    app: last(({ app }) => app),
    externalUser: last(({ externalUser }) => externalUser),
    models: [...uses]
      .sort(([one, times], [other, otherTimes]) => otherTimes - times || (one < other ? -1 : 1))
      .map(([model]) => model)
      .slice(0, MAX_CONVERSATION_MODELS),
  };
}
