import type { DialectName, Format } from '../../../src/ir/items.ts';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { HIDDEN_THOUGHTS, SEALED_CALL, SEALS, THOUGHTS, TOOLS } from './answer-matrix.ts';
import type { WireAnswer } from './answers/wire-answer.ts';
import { receive, type Way } from './judge-answer.ts';
import { type SentRequest, send } from './judge-request.ts';
import { type Sees, says, user, type Wire } from './request-feature.ts';

/** Sealed reasoning that passes through the caller and returns in the next turn, to its maker or to another family. */
export interface SealedAnswer {
  readonly title: string;
  readonly note?: string;
  readonly answered: Readonly<Partial<Record<DialectName, WireAnswer>>>;
  /** The seal, byte for byte, at the place where each dialect has it. */
  readonly sealed: Readonly<Record<DialectName, Sees>>;
  /** What a body must not contain unless the seal is its own. */
  readonly secret: string;
  /**
   * By the maker's dialect: the verdict at each dialect, in the order of `UPSTREAMS`, for all formats of the caller.
   * `adapted`: the text of the reasoning arrives without the seal.
   */
  readonly verdicts: Readonly<Partial<Record<DialectName, string>>>;
}

const { THOUGHT, SIGNATURE, HIDDEN } = SEALS;

const someBlock = (list: Wire, sees: Sees) => list.some((turn: Wire) => turn.content.some?.(sees));
const someItem = (list: Wire, sees: Sees) => list.some(sees);
const someDetail = (list: Wire, sees: Sees) => list.some((turn: Wire) => turn.reasoning_details?.some(sees));
const somePart = (list: Wire, sees: Sees) => list.some((turn: Wire) => turn.parts.some(sees));

export const CUSTODY: readonly SealedAnswer[] = [
  {
    title: 'Reasoning with its signature',
    note: 'The chat upstream of this row returns seals of a Claude model, so they may also go to Claude itself.',
    answered: THOUGHTS,
    secret: SIGNATURE,
    sealed: {
      messages: (body) => someBlock(body.messages, ({ signature }) => signature === SIGNATURE),
      responses: (body) => someItem(body.input, (item) => item.encrypted_content === SIGNATURE),
      chat: (body) => someDetail(body.messages, ({ signature }) => signature === SIGNATURE),
      gemini: (body) => somePart(body.contents, (part) => part.thoughtSignature === SIGNATURE),
      bedrock: (body) =>
        someBlock(body.messages, (block) => block.reasoningContent?.reasoningText?.signature === SIGNATURE),
    },
    verdicts: {
      messages: 'kept    adapted dropped adapted kept',
      responses: 'dropped kept    dropped adapted dropped',
      chat: 'kept    adapted kept    adapted kept',
      gemini: 'dropped adapted dropped kept    dropped',
      bedrock: 'kept    adapted dropped adapted kept',
    },
  },
  {
    title: 'Hidden reasoning',
    note: 'The chat upstream of this row returns seals of an OpenAI model.',
    answered: HIDDEN_THOUGHTS,
    secret: HIDDEN,
    sealed: {
      messages: (body) => someBlock(body.messages, ({ data }) => data === HIDDEN),
      responses: (body) => someItem(body.input, (item) => item.encrypted_content === HIDDEN),
      chat: (body) => someDetail(body.messages, ({ data }) => data === HIDDEN),
      gemini: (body) => somePart(body.contents, (part) => part.thoughtSignature === HIDDEN),
      bedrock: (body) =>
        someBlock(
          body.messages,
          (block) => block.reasoningContent?.redactedContent === Buffer.from(HIDDEN).toString('base64'),
        ),
    },
    verdicts: {
      messages: 'kept    dropped dropped dropped kept',
      responses: 'dropped kept    dropped dropped dropped',
      chat: 'dropped kept    kept    dropped dropped',
      gemini: 'dropped dropped dropped kept    dropped',
      bedrock: 'kept    dropped dropped dropped kept',
    },
  },
  {
    title: 'Call with a seal of its own',
    note: 'The call itself always arrives. If Gemini needs a seal on a call of another family, it gets the placeholder that Google documents.',
    answered: SEALED_CALL,
    secret: SIGNATURE,
    sealed: {
      messages: says(SIGNATURE),
      responses: says(SIGNATURE),
      chat: says(SIGNATURE),
      bedrock: says(SIGNATURE),
      gemini: (body) =>
        somePart(body.contents, (part) => part.functionCall && part.thoughtSignature === SIGNATURE),
    },
    verdicts: { gemini: 'dropped dropped dropped kept dropped' },
  },
];

/** The next turn of a caller that got an answer of `maker`, as it goes out to `upstream`. */
export function sendBack(
  row: SealedAnswer,
  maker: DialectName,
  format: Format,
  upstream: DialectName,
  way: Way,
):
  | { readonly asked: JsonObject; readonly sent: SentRequest; readonly verdict: SentRequest['verdict'] }
  | undefined {
  const answer = row.answered[maker];
  if (answer === undefined) return undefined;
  const lane = format === maker ? 'relay' : 'translate';
  const reply = receive(answer, TOOLS[format], format, maker, lane, way);
  const asked = nextTurn(format, reply);
  const nextLane = format === upstream ? 'relay' : 'translate';
  const sent = send({ arrives: row.sealed }, asked, format, upstream, nextLane);
  const isAdapted = sent.verdict === 'dropped' && says(THOUGHT)(sent.body);
  return { asked, sent, verdict: isAdapted ? 'adapted' : sent.verdict };
}

/** What clients make of a reply: they append it unchanged to the history and answer its tool calls. */
function nextTurn(format: Format, reply: Wire): JsonObject {
  const request = TOOLS[format];
  switch (format) {
    case 'responses': {
      const results = reply.output
        .filter(({ type }: Wire) => type === 'function_call')
        .map(({ call_id }: Wire) => ({ type: 'function_call_output', call_id, output: 'Rain' }));
      return { ...request, input: [user(), ...reply.output, ...results, user('Go on.')] };
    }
    case 'messages': {
      const results = reply.content
        .filter(({ type }: Wire) => type === 'tool_use')
        .map(({ id }: Wire) => ({ type: 'tool_result', tool_use_id: id, content: 'Rain' }));
      const next = user([...results, { type: 'text', text: 'Go on.' }]);
      return { ...request, messages: [user(), { role: 'assistant', content: reply.content }, next] };
    }
    case 'chat': {
      const { message } = reply.choices[0];
      const results = (message.tool_calls ?? []).map(({ id }: Wire) => ({
        role: 'tool',
        tool_call_id: id,
        content: 'Rain',
      }));
      return { ...request, messages: [user(), message, ...results, user('Go on.')] };
    }
  }
}
