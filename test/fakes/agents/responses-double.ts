import { COUNTED, eventBytes, piecesOf, type UpstreamDouble } from './upstream-double.ts';

/** Responses, with encrypted reasoning as it is given to those who do not let the upstream keep anything. */
export const responsesDouble: UpstreamDouble = {
  dialect: 'openai-responses',
  model: 'fake-responses-1',
  path: '/responses',
  mediaType: 'text/event-stream',
  keyHeader: (key) => ['authorization', `Bearer ${key}`],
  hidesThoughts: () => false,
  toolsOf: (body) => body.tools.flatMap(callable),
  stepStream: ({ thoughts, seal, call }) => {
    const script = new EventScript();
    script.reasoning(thoughts, seal);
    script.call(call.id, call.name, JSON.stringify(call.arguments));
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
      const before = input[index - 1];
      const reasoning = before?.type === 'reasoning' ? before : undefined;
      const answer = input.find(
        (other: any) => other.type === 'function_call_output' && other.call_id === item.call_id,
      );
      return [
        {
          thoughts: reasoning?.summary?.map((part: any) => part.text).join('') || undefined,
          seal: reasoning?.encrypted_content,
          call: { id: item.call_id, name: item.name, arguments: JSON.parse(item.arguments) },
          output: answer === undefined ? undefined : textOf(answer.output),
        },
      ];
    });
  },
};

function callable(tool: any): { name: string; schema: any }[] {
  return tool.type === 'function' ? [{ name: tool.name, schema: tool.parameters }] : [];
}

function textOf(output: any): string {
  return typeof output === 'string' ? output : output.map((part: any) => part.text).join('');
}

/** Writes the events of one response. */
class EventScript {
  readonly #events: { event: string; data: object }[] = [];
  readonly #output: object[] = [];

  constructor() {
    this.#push('response.created', { response: this.#response('in_progress') });
    this.#push('response.in_progress', { response: this.#response('in_progress') });
  }

  reasoning(thoughts: string, seal: string): void {
    const id = 'rs_double';
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

  call(callId: string, name: string, written: string): void {
    const id = 'fc_double';
    const place = { item_id: id, output_index: this.#output.length };
    const item = {
      id,
      type: 'function_call',
      call_id: callId,
      name,
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
    const id = 'msg_double';
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
