import {
  COUNTED,
  eventBytes,
  type OfferedTool,
  piecesOf,
  type Step,
  type UpstreamDouble,
} from './upstream-double.ts';

/** Responses, with encrypted reasoning, as upstreams send it to callers with `store: false`. */
export const responsesDouble: UpstreamDouble = {
  dialect: 'openai-responses',
  model: 'fake-responses-1',
  path: '/responses',
  mediaType: 'text/event-stream',
  keyHeader: (key) => ['authorization', `Bearer ${key}`],
  hidesThoughts: () => false,
  toolsOf: (body) => body.tools.flatMap(callable),
  stepStream: ({ thoughts, seal, says, call }) => {
    const script = new EventScript();
    script.reasoning(thoughts, seal);
    if (says !== undefined) script.message(says);
    script.call(call);
    return script.end();
  },
  textStream: (text) => {
    const script = new EventScript();
    script.message(text);
    return script.end();
  },
  stepsOf: ({ input }) => {
    if (typeof input === 'string') return [];
    return input.flatMap((item: any, index: number) => {
      if (item.type !== 'function_call') return [];
      const reasoning = reasoningBefore(input, index);
      const answer = input.find(
        (other: any) => other.type === 'function_call_output' && other.call_id === item.call_id,
      );
      return [
        {
          thoughts: reasoning?.summary?.map((part: any) => part.text).join('') || undefined,
          seal: reasoning?.encrypted_content,
          call: {
            id: item.call_id,
            name: item.name,
            ...(item.namespace !== undefined && { namespace: item.namespace }),
            arguments: JSON.parse(item.arguments),
          },
          output: answer === undefined ? undefined : textOf(answer.output),
        },
      ];
    });
  },
};

/** The reasoning of a call: what the model said in between is of the same answer. */
function reasoningBefore(input: any[], index: number): any {
  const before = input[index - 1];
  if (before?.type === 'message' && before.role === 'assistant') return reasoningBefore(input, index - 1);
  return before?.type === 'reasoning' ? before : undefined;
}

function callable(tool: any): OfferedTool[] {
  return tool.type === 'function' ? [{ name: tool.name, schema: tool.parameters }] : [];
}

/** The tools of a request that stand in groups. */
export function groupedTools(body: any): OfferedTool[] {
  return body.tools.flatMap(({ type, name: namespace, tools }: any) =>
    type === 'namespace' ? tools.flatMap(callable).map((tool: OfferedTool) => ({ ...tool, namespace })) : [],
  );
}

function textOf(output: any): string {
  return typeof output === 'string' ? output : output.map((part: any) => part.text).join('');
}

/** Responses written so far: no two have items of the same id. */
let responses = 0;

/** Writes the events of one response. */
class EventScript {
  readonly #number = responses++;
  readonly #events: { event: string; data: object }[] = [];
  readonly #output: object[] = [];

  constructor() {
    this.#push('response.created', { response: this.#response('in_progress') });
    this.#push('response.in_progress', { response: this.#response('in_progress') });
  }

  reasoning(thoughts: string, seal: string): void {
    const id = this.#id('rs');
    const place = { item_id: id, output_index: this.#output.length, summary_index: 0 };
    const part = { type: 'summary_text', text: thoughts };
    const empty = { id, type: 'reasoning', summary: [], encrypted_content: 'not-the-last-word' };
    this.#item(empty, { ...empty, summary: [part], encrypted_content: seal }, () => {
      this.#push('response.reasoning_summary_part.added', { ...place, part: { ...part, text: '' } });
      for (const delta of piecesOf(thoughts)) {
        this.#push('response.reasoning_summary_text.delta', { ...place, delta });
      }
      this.#push('response.reasoning_summary_text.done', { ...place, text: thoughts });
      this.#push('response.reasoning_summary_part.done', { ...place, part });
    });
  }

  call({ id: callId, name, namespace, arguments: given }: Step['call']): void {
    const id = this.#id('fc');
    const written = JSON.stringify(given);
    const place = { item_id: id, output_index: this.#output.length };
    const item = {
      id,
      type: 'function_call',
      call_id: callId,
      name,
      ...(namespace !== undefined && { namespace }),
      arguments: written,
      status: 'completed',
    };
    this.#item({ ...item, arguments: '', status: 'in_progress' }, item, () => {
      for (const delta of piecesOf(written)) {
        this.#push('response.function_call_arguments.delta', { ...place, delta });
      }
      this.#push('response.function_call_arguments.done', { ...place, arguments: written });
    });
  }

  message(text: string): void {
    const id = this.#id('msg');
    const place = { item_id: id, output_index: this.#output.length, content_index: 0 };
    const part = { type: 'output_text', text, annotations: [], logprobs: [] };
    const item = { id, type: 'message', role: 'assistant', status: 'completed', content: [part] };
    this.#item({ ...item, status: 'in_progress', content: [] }, item, () => {
      this.#push('response.content_part.added', { ...place, part: { ...part, text: '' } });
      for (const delta of piecesOf(text)) {
        this.#push('response.output_text.delta', { ...place, delta, logprobs: [] });
      }
      this.#push('response.output_text.done', { ...place, text, logprobs: [] });
      this.#push('response.content_part.done', { ...place, part });
    });
  }

  end(): Uint8Array {
    this.#push('response.completed', { response: this.#response('completed') });
    return eventBytes(this.#events);
  }

  #id(prefix: string): string {
    return `${prefix}_double_${this.#number}_${this.#output.length}`;
  }

  #item(begun: object, whole: object, write: () => void): void {
    const place = { output_index: this.#output.length };
    this.#push('response.output_item.added', { ...place, item: begun });
    write();
    this.#push('response.output_item.done', { ...place, item: whole });
    this.#output.push(whole);
  }

  #push(type: string, members: object): void {
    this.#events.push({ event: type, data: { type, sequence_number: this.#events.length, ...members } });
  }

  #response(status: 'in_progress' | 'completed'): object {
    return {
      id: 'resp_double',
      object: 'response',
      created_at: 1_790_000_000,
      status,
      error: null,
      incomplete_details: null,
      instructions: null,
      model: responsesDouble.model,
      output: [...this.#output],
      parallel_tool_calls: true,
      temperature: 1,
      tool_choice: 'auto',
      tools: [],
      top_p: 1,
      metadata: {},
      usage:
        status === 'in_progress'
          ? null
          : {
              input_tokens: COUNTED.input,
              input_tokens_details: { cached_tokens: 0 },
              output_tokens: COUNTED.output,
              output_tokens_details: { reasoning_tokens: 10 },
              total_tokens: COUNTED.input + COUNTED.output,
            },
    };
  }
}
