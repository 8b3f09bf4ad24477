import type { ConversationFormatFacts } from '../../dialects/dialect-facts.ts';
import { GatewayError } from '../../ir/errors.ts';
import type { FinishReason, Seal } from '../../ir/events.ts';
import type { Item, MessageItem, Part } from '../../ir/items.ts';
import type { CallableTool, GenerationRequest } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { askedTools } from './asked-tools.ts';
import type { Behaviour } from './behaviours.ts';
import { Dice } from './dice.ts';
import { Allowance, schemaValue, UnmetSchema } from './schema-value.ts';

/** One item of a simulated answer, before it is cut into pieces. */
export type Draft =
  | { readonly type: 'thought'; readonly text: string; readonly isSummary: boolean; readonly seal: Seal }
  /** Thoughts that are counted but not shown. */
  | { readonly type: 'hidden-thought'; readonly text: string }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'refusal'; readonly text: string }
  | {
      readonly type: 'call';
      readonly kind: 'function' | 'custom';
      readonly name: string;
      readonly namespace?: string;
      readonly callId: string;
      readonly input: string;
    }
  | { readonly type: 'image'; readonly mediaType: string; readonly data: string; readonly tokens: number };

export interface Answer {
  readonly drafts: readonly Draft[];
  readonly reason: FinishReason;
  readonly explanation?: string;
}

const LABEL = 'This is a simulated answer: no model was asked.';

/** One grey pixel. */
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==';

type ThoughtFacts = Pick<ConversationFormatFacts, 'summarizesThoughts' | 'simulatedSeal'>;

/** The simulator's answer to a request; deterministic by seed, or by conversation if there is no seed. */
export function answerOf(request: GenerationRequest, behaviour: Behaviour, facts: ThoughtFacts): Answer {
  const dice = new Dice(seedOf(request));
  const allowance = new Allowance();
  if (behaviour.refuses === true) {
    const explanation = 'Simulated refusal: this model declines every request.';
    return { drafts: [{ type: 'refusal', text: explanation }], reason: 'refusal', explanation };
  }
  const thoughts = reasons(request, behaviour) ? [thoughtOf(request, facts, dice)] : [];
  const calls = callsOf(request, behaviour, dice, allowance);
  if (calls.length > 0) return { drafts: [...thoughts, ...calls], reason: 'tool-calls' };
  const picture: Draft[] =
    behaviour.draws === true || request.modalities?.includes('image') === true
      ? [{ type: 'image', mediaType: 'image/png', data: PIXEL, tokens: 16 }]
      : [];
  const text = structuredText(request, allowance) ?? plainText(request, dice, picture.length > 0);
  return { drafts: [...thoughts, { type: 'text', text }, ...picture], reason: 'stop' };
}

function seedOf(request: GenerationRequest): string {
  const { seed } = request.sampling;
  return seed === undefined ? JSON.stringify(request.items.map(wordsOf)) : `seed ${seed}`;
}

function reasons(request: GenerationRequest, behaviour: Behaviour): boolean {
  const { reasoning } = request;
  if (reasoning?.effort === 'none' || reasoning?.enabled === false) return false;
  if (behaviour.alwaysReasons === true) return true;
  return (
    reasoning?.effort !== undefined ||
    reasoning?.budgetTokens !== undefined ||
    reasoning?.enabled === true ||
    reasoning?.adaptive === true
  );
}

function thoughtOf(request: GenerationRequest, facts: ThoughtFacts, dice: Dice): Draft {
  const first = dice.pick(['First', 'To begin with', 'Let me see']);
  const text = `${first}, these are simulated thoughts. The request is: ${quoted(lastUserText(request), 80)}. I will answer it.`;
  if (request.reasoning?.exclude === true) return { type: 'hidden-thought', text };
  return {
    type: 'thought',
    text,
    isSummary: facts.summarizesThoughts === true && request.reasoning?.summary !== undefined,
    seal: facts.simulatedSeal(`simulated-${dice.token(24)}`),
  };
}

/** The text that the request's output format asks for; undefined when any text will do. */
function structuredText(request: GenerationRequest, allowance: Allowance): string | undefined {
  const format = request.outputFormat;
  if (format?.type === 'json-schema') return valueText(format.schema, 'The output format', allowance);
  if (format?.type === 'json') {
    return JSON.stringify({ simulated: true, request: cut(lastUserText(request), 200) });
  }
  return undefined;
}

/** A value for a schema, as text. Refuses a schema without one: any other value would be invalid. */
function valueText(schema: JsonObject, owner: string, allowance: Allowance): string {
  try {
    return JSON.stringify(schemaValue(schema, allowance));
  } catch (error) {
    if (!(error instanceof UnmetSchema)) throw error;
    throw new GatewayError(
      'invalid-request',
      `${owner} has a schema that asks for more than the simulator writes: give it a smaller or simpler one, or ask a real model`,
    );
  }
}

function plainText(request: GenerationRequest, dice: Dice, hasPicture: boolean): string {
  const results = latestResults(request);
  if (results.length > 0) {
    const shown = results.map((result) => quoted(textOf(result.content), 400)).join(' and ');
    return `${LABEL} The tool${results.length === 1 ? '' : 's'} returned ${shown}.`;
  }
  const said = quoted(lastUserText(request), 400);
  const closing = dice.pick([
    'A real model would answer it here.',
    'Configure a provider to have it answered.',
    'Your client, your key and this gateway work.',
  ]);
  return `${LABEL} You said: ${said}.${hasPicture ? ' Here is a simulated picture.' : ''} ${closing}`;
}

function callsOf(
  request: GenerationRequest,
  behaviour: Behaviour,
  dice: Dice,
  allowance: Allowance,
): Draft[] {
  return calledTools(request, behaviour).map((tool) => ({
    type: 'call',
    kind: tool.type,
    name: tool.name,
    ...(tool.namespace !== undefined && { namespace: tool.namespace.name }),
    callId: `call_${dice.token(24)}`,
    input:
      tool.type === 'function'
        ? valueText({ type: 'object', ...tool.parameters }, `The tool ${quoted(tool.name, 80)}`, allowance)
        : `simulated input for ${tool.name}`,
  }));
}

/**
 * The tools to call. A forced choice is obeyed on every turn. A free one leads to calls only of tools that the user
 * plainly asks for, and to none once results have come in.
 */
function calledTools(request: GenerationRequest, behaviour: Behaviour): CallableTool[] {
  const callable = request.tools.filter((tool): tool is CallableTool => tool.type !== 'hosted');
  const choice = request.toolChoice ?? { mode: 'auto' as const };
  const freely = (tools: readonly CallableTool[]) =>
    latestResults(request).length > 0 ? [] : wantedOf(tools, request, behaviour.alwaysCallsTools === true);
  switch (choice.mode) {
    case 'none':
    case 'hosted':
      return [];
    case 'tool':
      return callable.filter((tool) => tool.name === choice.name).slice(0, 1);
    case 'required':
      return wantedOf(callable, request, true);
    case 'allowed': {
      const names = new Set(choice.tools.map((tool) => tool.name));
      const allowed = callable.filter((tool) => names.has(tool.name));
      return choice.required ? wantedOf(allowed, request, true) : freely(allowed);
    }
    case 'auto':
      return freely(callable);
  }
}

/** The tools that the user asks for; the first one if some tool has to be called. */
function wantedOf(
  tools: readonly CallableTool[],
  request: GenerationRequest,
  atLeastOne: boolean,
): CallableTool[] {
  const asked = askedTools(tools, requestText(request));
  const called = asked.length === 0 && atLeastOne ? tools.slice(0, 1) : asked;
  return request.parallelToolCalls === false ? called.slice(0, 1) : called;
}

/** Tool results of the last turn; agents may add messages after them. */
function latestResults({ items }: GenerationRequest) {
  const end = items.findLastIndex((item) => item.type !== 'message' || item.role === 'assistant') + 1;
  if (items[end - 1]?.type !== 'tool-result') return [];
  const before = items.slice(0, end);
  const start = before.findLastIndex((item) => item.type === 'message' && item.role === 'user') + 1;
  return before.slice(start).filter((item) => item.type === 'tool-result');
}

/** The question of the user: the last text of the last message. Agents put what they know before it. */
function requestText(request: GenerationRequest): string {
  const part = lastUserMessage(request)?.content.findLast(({ type }) => type === 'text');
  return part?.type === 'text' ? part.text : '';
}

function lastUserText(request: GenerationRequest): string {
  return textOf(lastUserMessage(request)?.content ?? []);
}

function lastUserMessage({ items }: GenerationRequest): MessageItem | undefined {
  return items.findLast((item): item is MessageItem => item.type === 'message' && item.role === 'user');
}

/** Everything readable in an item: what its tokens are counted by. */
export function wordsOf(item: Item): string {
  switch (item.type) {
    case 'message':
      return `${item.role} ${textOf(item.content)}`;
    case 'reasoning':
      return [...item.text, ...item.summary].join(' ');
    case 'tool-call':
      return `${item.name} ${item.input}`;
    case 'tool-result':
      return textOf(item.content);
    case 'image':
      return '(image)';
    case 'opaque':
      return JSON.stringify(item.value);
  }
}

function textOf(parts: readonly Part[]): string {
  return parts.map(partText).join(' ');
}

function partText(part: Part): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'refusal':
      return part.refusal;
    case 'file':
      return `(file ${part.filename ?? 'without a name'})`;
    default:
      return `(${part.type})`;
  }
}

function quoted(text: string, length: number): string {
  const start = text.trimStart().slice(0, length * CHARACTERS_PER_SHOWN);
  return `"${cut(start.replace(/\s+/g, ' ').trim(), length)}"`;
}

/** Characters looked at for each that is quoted: white space is shown as one. */
const CHARACTERS_PER_SHOWN = 16;

function cut(text: string, length: number): string {
  // No character is longer than two units.
  const characters = Array.from(text.slice(0, 2 * (length + 1)));
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join('')}…`;
}
