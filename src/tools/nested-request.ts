import Type from 'typebox';
import type { Item, MessageItem } from '../ir/items.ts';
import { Places } from '../ir/places.ts';
import type { GenerationRequest, Tool } from '../ir/request.ts';
import type { Result } from '../ir/result.ts';
import type { Effort } from '../ir/settings.ts';
import type { JsonObject } from '../kit/json/json.ts';
import { compact, numberAt, objectAt, objectsAt, stringAt } from '../kit/json/members.ts';
import { closed, nullish, oneOf } from '../kit/json/schema.ts';

const EFFORTS = ['max', 'xhigh', 'high', 'medium', 'low', 'minimal', 'none'] as const;

const MAX_NESTED_TOOLS = 8;

export const MODEL_PARAMETERS = {
  name: nullish(Type.String({ pattern: '^ *[a-zA-Z0-9_-][a-zA-Z0-9 _-]{0,63}$', maxLength: 64 })),
  model: nullish(Type.String({ minLength: 1, maxLength: 256 })),
  instructions: nullish(Type.String({ maxLength: 100_000 })),
  tools: nullish(
    Type.Array(Type.Object({ type: Type.String(), parameters: nullish(Type.Object({})) }), {
      maxItems: MAX_NESTED_TOOLS,
    }),
  ),
  max_tool_calls: nullish(Type.Integer({ minimum: 1, maximum: 25 })),
  max_completion_tokens: nullish(Type.Integer({ minimum: 1 })),
  temperature: nullish(Type.Number({ minimum: 0, maximum: 2 })),
  reasoning: nullish(
    closed({ effort: nullish(oneOf(EFFORTS)), max_tokens: nullish(Type.Integer({ minimum: 0 })) }),
  ),
};

/** The name of an instance of a tool; empty = it has none. */
export function instanceName(parameters: JsonObject): string {
  return (stringAt(parameters, 'name') ?? '').trim();
}

/**
 * The request for another model, with the settings of a tool's `parameters`. Of the caller's request it has only what
 * concerns the whole generation: which providers may serve it, for whom it is, and what guardrails watch.
 */
export function nestedRequest(
  outer: GenerationRequest,
  {
    models,
    parameters,
    items,
  }: {
    readonly models: readonly string[];
    readonly parameters: JsonObject;
    readonly items: readonly Item[];
  },
): GenerationRequest {
  const { format, formatFacts, user, safetyIdentifier, stream, wishes, watch } = outer;
  const instructions = stringAt(parameters, 'instructions');
  const reasoning = objectAt(parameters, 'reasoning');
  return compact({
    format,
    formatFacts,
    body: {},
    models,
    hasFallbackModels: models.length > 1,
    items: instructions === undefined ? items : [message('system', instructions), ...items],
    tools: objectsAt(parameters, 'tools').map(serverTool),
    sampling: compact({ temperature: numberAt(parameters, 'temperature') }),
    requestedOutputTokens: numberAt(parameters, 'max_completion_tokens'),
    reasoning:
      reasoning &&
      compact({
        effort: stringAt(reasoning, 'effort') as Effort | undefined,
        budgetTokens: numberAt(reasoning, 'max_tokens'),
      }),
    user,
    safetyIdentifier,
    stream,
    echoUpstreamBody: false,
    wishes: compact({
      provider: wishes.provider,
      plugins: [],
      maxToolCalls: numberAt(parameters, 'max_tool_calls'),
    }),
    ext: {},
    places: new Places(),
    unknownFields: [],
    watch,
  }) as GenerationRequest;
}

/** A server tool as requests have it; no dialect has its type. */
function serverTool(value: JsonObject): Tool {
  return { type: 'hosted', dialect: 'responses', kind: stringAt(value, 'type') ?? '', value };
}

export function message(role: MessageItem['role'], text: string): MessageItem {
  return { type: 'message', role, content: [{ type: 'text', text }] };
}

/** The text of another model's answer, or why there is none. */
export function answerOf({
  items,
  finish,
  failure,
}: Result): { readonly text: string } | { readonly error: string } {
  if (failure !== undefined) return { error: failure.message };
  if (finish?.reason === 'budget') return { error: 'the limits are too low for another model call' };
  const text = items
    .flatMap((item) => (item.type === 'message' ? item.content : []))
    .map((part) => (part.type === 'text' ? part.text : part.type === 'refusal' ? part.refusal : ''))
    .join('');
  return text.trim() === '' ? { error: 'the model gave no answer' } : { text };
}
