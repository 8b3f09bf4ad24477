import { createHash } from 'node:crypto';
import type { ErrorKind } from '../../../src/ir/errors.ts';
import type { FinishReason } from '../../../src/ir/events.ts';
import type { OutputItem, Part } from '../../../src/ir/items.ts';
import type { Result } from '../../../src/ir/result.ts';
import type { Usage } from '../../../src/ir/usage.ts';
import { compact } from '../../../src/kit/json/members.ts';
import { type FailureScope, failureOfReply } from '../../../src/upstream/call/failure.ts';
import { dialectNamed } from './decode.ts';
import type { Answer } from './recording.ts';

/** What an answer says, in few words: long texts are marked (see `markOf`), counts of zero and empty lists left out. */
export interface Summary {
  readonly text?: string;
  readonly refusal?: string;
  /** The phase of each message, if it has one. */
  readonly phases?: readonly string[];
  /** Thoughts and summaries of thoughts, one entry per item that has any. */
  readonly reasoning?: readonly string[];
  /** Proofs over the text of reasoning items. */
  readonly signatures?: readonly string[];
  /** Sealed thoughts. */
  readonly encrypted?: readonly string[];
  readonly calls?: readonly CallSummary[];
  /** Addresses that the text names as its sources. */
  readonly sources?: readonly string[];
  /** Types of the items that only the upstream's own dialect knows. */
  readonly opaque?: readonly unknown[];
  readonly end?: FinishReason | ErrorKind;
  /** The words of a failure, or why the model declined. */
  readonly message?: string;
  /** Of refusals. */
  readonly category?: string;
  /** Of failures: the upstream's own word, and when it wants to be asked again. */
  readonly code?: unknown;
  readonly retryAfterSeconds?: number;
  readonly usage?: Partial<Usage>;
}

export interface CallSummary {
  readonly name: string;
  readonly callId: string;
  readonly input: string;
  readonly kind?: 'custom';
  readonly signature?: string;
}

export function summaryOf(result: Result): Summary {
  const { items, finish, failure, usage } = result;
  const messages = items.filter((item) => item.type === 'message');
  const reasoning = items.filter((item) => item.type === 'reasoning');
  const parts = messages.flatMap(({ content }) => content);
  return compact({
    text: textOf(parts.map((part) => (part.type === 'text' ? part.text : ''))),
    phases: listOf(messages.flatMap(({ phase }) => phase ?? [])),
    refusal: textOf(parts.map((part) => (part.type === 'refusal' ? part.refusal : ''))),
    reasoning: listOf(reasoning.flatMap(({ text, summary }) => markedOf([...summary, ...text].join('\n\n')))),
    signatures: listOf(reasoning.flatMap(({ signature = '' }) => markedOf(signature))),
    encrypted: listOf(reasoning.flatMap(({ encrypted = '' }) => markedOf(encrypted))),
    calls: listOf(items.flatMap(callOf)),
    sources: listOf(parts.flatMap(sourcesOf)),
    opaque: listOf(items.flatMap((item) => (item.type === 'opaque' ? [item.value.type] : []))),
    end: failure?.kind ?? finish?.reason,
    message: textOf([failure?.message ?? finish?.explanation ?? '']),
    category: finish?.category,
    code: failure?.metadata?.provider_code,
    retryAfterSeconds: failure?.retryAfterSeconds,
    usage: usage === undefined ? undefined : countsOf(usage),
  });
}

/** What an answer says that is the body of an error: as the gateway reports it, but in the upstream's own words. */
export function summaryOfError({ dialect, body, status }: Extract<Answer, { kind: 'error' }>): Summary {
  const { readError } = dialectNamed(dialect);
  const scope: FailureScope = {
    provider: { name: 'Acme' },
    confidential: { secrets: [], host: undefined },
    readError,
    now: () => 0,
  };
  const failure = failureOfReply({ status, headers: {}, body: JSON.stringify(body) }, scope);
  return compact({
    end: failure.kind,
    message: textOf([readError(body)?.message ?? '']),
    code: failure.metadata?.provider_code,
    retryAfterSeconds: failure.retryAfterSeconds,
  });
}

/** A short text as it is; of a long one the beginning, the length and the beginning of its digest. */
export function markOf(text: string): string {
  if (text.length <= 40) return text;
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 8);
  return `${text.slice(0, 20)}… ${text.length} ${digest}`;
}

function textOf(pieces: readonly string[]): string | undefined {
  const text = pieces.join('');
  return text === '' ? undefined : markOf(text);
}

function markedOf(text: string): string[] {
  return text === '' ? [] : [markOf(text)];
}

function callOf(item: OutputItem): CallSummary[] {
  if (item.type !== 'tool-call') return [];
  const { name, callId, input, kind, signature } = item;
  const seal = signature === undefined ? undefined : markOf(signature);
  return [
    compact({
      name,
      callId,
      input: markOf(input),
      kind: kind === 'custom' ? kind : undefined,
      signature: seal,
    }),
  ];
}

function sourcesOf(part: Part): string[] {
  const annotations = part.type === 'text' ? (part.annotations ?? []) : [];
  return annotations.flatMap((annotation) =>
    annotation.type === 'url-citation' ? [markOf(annotation.url)] : [],
  );
}

function countsOf(usage: Usage): Partial<Usage> {
  return Object.fromEntries(
    Object.entries(usage).filter(([, count]) => typeof count === 'number' && count > 0),
  );
}

function listOf<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}
