import type { JsonObject } from '../../../../src/kit/json/json.ts';
import { typed, type WireAnswer } from './wire-answer.ts';

const USAGE = {
  input_tokens: 9,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 4,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 13,
};

/** A response with the given items. */
export function responsesAnswer(
  items: readonly JsonObject[],
  end: JsonObject = {},
  usage: JsonObject = USAGE,
): WireAnswer {
  const output = items.map((item, index) => ({ id: `item_${index}`, status: 'completed', ...item }));
  const head = { id: 'resp_1', object: 'response', created_at: 1, model: 'gpt-large', error: null };
  const begun = { ...head, status: 'in_progress', output: [], usage: null };
  const body = { ...head, status: 'completed', incomplete_details: null, ...end, output, usage };
  const events = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...output.flatMap(itemEvents),
    { type: `response.${body.status}`, response: body },
  ];
  return {
    body,
    frames: typed(events.map((event, sequence_number) => ({ ...event, sequence_number }))),
  };
}

function itemEvents(item: JsonObject, output_index: number): JsonObject[] {
  const { begun, events } = opened(item);
  return [
    { type: 'response.output_item.added', output_index, item: { ...item, ...begun, status: 'in_progress' } },
    ...events.map((event) => ({ ...event, item_id: item.id, output_index })),
    { type: 'response.output_item.done', output_index, item },
  ];
}

/** What an item lacks when it begins, and the events that bring it. */
function opened(item: JsonObject): { begun: JsonObject; events: JsonObject[] } {
  switch (item.type) {
    case 'message':
      return { begun: { content: [] }, events: (item.content as JsonObject[]).flatMap(partEvents) };
    case 'function_call':
      return {
        begun: { arguments: '' },
        events: [
          { type: 'response.function_call_arguments.delta', delta: item.arguments },
          { type: 'response.function_call_arguments.done', name: item.name, arguments: item.arguments },
        ],
      };
    case 'custom_tool_call':
      return {
        begun: { input: '' },
        events: [
          { type: 'response.custom_tool_call_input.delta', delta: item.input },
          { type: 'response.custom_tool_call_input.done', input: item.input },
        ],
      };
    case 'reasoning':
      return {
        begun: { summary: [], encrypted_content: '' },
        events: (item.summary as JsonObject[]).flatMap((part, summary_index) => [
          {
            type: 'response.reasoning_summary_part.added',
            summary_index,
            part: { type: 'summary_text', text: '' },
          },
          { type: 'response.reasoning_summary_text.delta', summary_index, delta: part.text },
          { type: 'response.reasoning_summary_text.done', summary_index, text: part.text },
          { type: 'response.reasoning_summary_part.done', summary_index, part },
        ]),
      };
    case 'image_generation_call':
      return { begun: { result: null }, events: [] };
    default:
      return { begun: {}, events: [] };
  }
}

function partEvents(part: JsonObject, content_index: number): JsonObject[] {
  if (part.type === 'refusal') {
    return [
      { type: 'response.content_part.added', content_index, part: { type: 'refusal', refusal: '' } },
      { type: 'response.refusal.delta', content_index, delta: part.refusal },
      { type: 'response.refusal.done', content_index, refusal: part.refusal },
      { type: 'response.content_part.done', content_index, part },
    ];
  }
  const annotations = (part.annotations ?? []) as JsonObject[];
  const logprobs = part.logprobs ?? [];
  return [
    {
      type: 'response.content_part.added',
      content_index,
      part: { type: 'output_text', text: '', annotations: [], logprobs: [] },
    },
    { type: 'response.output_text.delta', content_index, delta: part.text, logprobs },
    ...annotations.map((annotation, annotation_index) => ({
      type: 'response.output_text.annotation.added',
      content_index,
      annotation_index,
      annotation,
    })),
    { type: 'response.output_text.done', content_index, text: part.text, logprobs },
    { type: 'response.content_part.done', content_index, part },
  ];
}

/** A message item that says something. */
export function said(text: string, more: JsonObject = {}): JsonObject {
  return {
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text, annotations: [], logprobs: [], ...more }],
  };
}
