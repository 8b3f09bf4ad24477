import type { FinishReason, Seal } from '../../ir/events.ts';
import type { DialectName, Item, Part } from '../../ir/items.ts';
import type { GenerationRequest, Tool } from '../../ir/request.ts';
import type { Behaviour } from './behaviours.ts';
import { Dice } from './dice.ts';
import { schemaValue } from './schema-value.ts';

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

/** A whole simulated answer. */
export interface Answer {
  readonly drafts: readonly Draft[];
  readonly reason: FinishReason;
  readonly explanation?: string;
}

type CallableTool = Extract<Tool, { type: 'function' | 'custom' }>;

const LABEL = 'This is a simulated answer: no model was asked.';

/** One grey pixel. */
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==';

/** Seals in the words of each dialect, so that what comes back is told apart from a foreign one. */
const SEALS: Readonly<Partial<Record<DialectName, (token: string) => Seal>>> = {
  responses: (token) => ({ encrypted: token, format: 'openai-responses-v1' }),
  messages: (token) => ({ signature: token, format: 'anthropic-claude-v1' }),
  chat: (token) => ({ signature: token, format: 'anthropic-claude-v1' }),
};

/** What the simulator says to a request: the same every time for the same seed or the same conversation. */
export function answerOf(request: GenerationRequest, behaviour: Behaviour, dialect: DialectName): Answer {
  const dice = new Dice(seedOf(request));
  if (behaviour.refuses === true) {
    const explanation = 'Simulated refusal: this model declines every request.';
    return { drafts: [{ type: 'refusal', text: explanation }], reason: 'refusal', explanation };
  }
  const thoughts = reasons(request, behaviour) ? [thoughtOf(request, dialect, dice)] : [];
  const calls = callsOf(request, behaviour, dice);
  if (calls.length > 0) return { drafts: [...thoughts, ...calls], reason: 'tool-calls' };
  const picture: Draft[] =
    behaviour.draws === true || request.modalities?.includes('image') === true
      ? [{ type: 'image', mediaType: 'image/png', data: PIXEL, tokens: 16 }]
      : [];
  const text = structuredText(request) ?? plainText(request, dice, picture.length > 0);
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

function thoughtOf(request: GenerationRequest, dialect: DialectName, dice: Dice): Draft {
  const first = dice.pick(['First', 'To begin with', 'Let me see']);
  const text = `${first}, these are simulated thoughts. The request is: ${quoted(lastUserText(request), 80)}. I will answer it.`;
  if (request.reasoning?.exclude === true) return { type: 'hidden-thought', text };
  return {
    type: 'thought',
    text,
    isSummary: dialect === 'responses' && request.reasoning?.summary !== undefined,
    seal: SEALS[dialect]?.(`simulated-${dice.token(24)}`) ?? {},
  };
}

/** The text that the request's output format asks for; undefined when any text will do. */
function structuredText(request: GenerationRequest): string | undefined {
  const format = request.outputFormat;
  if (format?.type === 'json-schema') return JSON.stringify(schemaValue(format.schema));
  if (format?.type === 'json') {
    return JSON.stringify({ simulated: true, request: cut(lastUserText(request), 200) });
  }
  return undefined;
}

function plainText(request: GenerationRequest, dice: Dice, hasPicture: boolean): string {
  const results = resultsSinceUser(request);
  if (results.length > 0) {
    const told = results.map((result) => quoted(textOf(result.content), 400)).join(' and ');
    return `${LABEL} The tool${results.length === 1 ? '' : 's'} returned ${told}.`;
  }
  const said = quoted(lastUserText(request), 400);
  const closing = dice.pick([
    'A real model would answer it here.',
    'Configure a provider to have it answered.',
    'Your client, your key and this gateway work.',
  ]);
  return `${LABEL} You said: ${said}.${hasPicture ? ' Here is a simulated picture.' : ''} ${closing}`;
}

function callsOf(request: GenerationRequest, behaviour: Behaviour, dice: Dice): Draft[] {
  return calledTools(request, behaviour).map((tool) => ({
    type: 'call',
    kind: tool.type,
    name: tool.name,
    ...(tool.namespace !== undefined && { namespace: tool.namespace.name }),
    callId: `call_${dice.token(24)}`,
    input:
      tool.type === 'function'
        ? JSON.stringify(schemaValue({ type: 'object', ...tool.parameters }))
        : `simulated input for ${tool.name}`,
  }));
}

/**
 * The tools to call. A forced choice is obeyed on every turn. A free one leads to calls only until results are there,
 * and only of the tools that the user's last message speaks of.
 */
function calledTools(request: GenerationRequest, behaviour: Behaviour): CallableTool[] {
  const callable = request.tools.filter((tool): tool is CallableTool => tool.type !== 'hosted');
  const choice = request.toolChoice ?? { mode: 'auto' as const };
  switch (choice.mode) {
    case 'none':
    case 'hosted':
      return [];
    case 'tool':
      return callable.filter((tool) => tool.name === choice.name).slice(0, 1);
    case 'required':
      return spokenOf(callable, request, true);
    case 'allowed': {
      const names = new Set(choice.tools.map((tool) => tool.name));
      const allowed = callable.filter((tool) => names.has(tool.name));
      return choice.required || isFirstTurn(request)
        ? spokenOf(allowed, request, choice.required || behaviour.alwaysCallsTools === true)
        : [];
    }
    case 'auto':
      return isFirstTurn(request) ? spokenOf(callable, request, behaviour.alwaysCallsTools === true) : [];
  }
}

function spokenOf(
  tools: readonly CallableTool[],
  request: GenerationRequest,
  atLeastOne: boolean,
): CallableTool[] {
  const said = lastUserText(request).toLowerCase();
  const spoken = tools.filter((tool) => isSpokenOf(tool.name, said));
  const called =
    spoken.length === 0 && (atLeastOne || /\btools?\b|\bfunctions?\b/.test(said))
      ? tools.slice(0, 1)
      : spoken;
  return request.parallelToolCalls === false ? called.slice(0, 1) : called;
}

/** True when the text holds the tool's name or a telling word of it: `get_weather` in "what is the weather?". */
function isSpokenOf(name: string, said: string): boolean {
  const words = name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  return said.includes(name.toLowerCase()) || words.some((word) => word.length >= 4 && said.includes(word));
}

function isFirstTurn(request: GenerationRequest): boolean {
  return resultsSinceUser(request).length === 0;
}

function resultsSinceUser(request: GenerationRequest) {
  const start = request.items.findLastIndex((item) => item.type === 'message' && item.role === 'user');
  return request.items.slice(start + 1).filter((item) => item.type === 'tool-result');
}

function lastUserText(request: GenerationRequest): string {
  const item = request.items.findLast(
    (candidate) => candidate.type === 'message' && candidate.role === 'user',
  );
  return item?.type === 'message' ? textOf(item.content) : '';
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
  return `"${cut(text.replace(/\s+/g, ' ').trim(), length)}"`;
}

function cut(text: string, length: number): string {
  const characters = Array.from(text);
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join('')}…`;
}
