import { bedrockDouble } from './bedrock-double.ts';
import { chatDouble } from './chat-double.ts';
import { geminiDouble } from './gemini-double.ts';
import { messagesDouble } from './messages-double.ts';
import { responsesDouble } from './responses-double.ts';
import { COUNTED, type Step } from './upstream-double.ts';

/** What a model gives in one answer: a step, or words alone. */
export type Said = Step | { readonly says: string };

/** The answers of the doubles in one piece, by dialect: where they are asked for, and what their bodies are. */
export const WHOLE_ANSWERS: Readonly<Record<string, { readonly path: string; bodyOf(said: Said): object }>> =
  {
    [chatDouble.dialect]: { path: chatDouble.path, bodyOf: chatBody },
    [responsesDouble.dialect]: { path: responsesDouble.path, bodyOf: responsesBody },
    [messagesDouble.dialect]: { path: messagesDouble.path, bodyOf: messagesBody },
    [geminiDouble.dialect]: {
      path: `/models/${geminiDouble.model}:generateContent`,
      bodyOf: geminiBody,
    },
    [bedrockDouble.dialect]: {
      path: bedrockDouble.path.replace('converse-stream', 'converse'),
      bodyOf: bedrockBody,
    },
  };

function stepOf(said: Said): Step | undefined {
  return 'call' in said ? said : undefined;
}

/** The members that are there: those of a step, of words, or of both. */
function present<T>(...members: (T | false | undefined | '')[]): T[] {
  return members.filter(Boolean) as T[];
}

function chatBody(said: Said): object {
  const step = stepOf(said);
  const detail = { type: 'reasoning.text', format: 'anthropic-claude-v1', index: 0 };
  return {
    id: 'chatcmpl-double',
    object: 'chat.completion',
    created: 1_790_000_000,
    model: chatDouble.model,
    choices: [
      {
        index: 0,
        finish_reason: step === undefined ? 'stop' : 'tool_calls',
        message: {
          role: 'assistant',
          content: said.says ?? null,
          ...(step !== undefined && {
            reasoning: step.thoughts,
            reasoning_details: [{ ...detail, text: step.thoughts, signature: step.seal }],
            tool_calls: [
              {
                id: step.call.id,
                type: 'function',
                function: { name: step.call.name, arguments: JSON.stringify(step.call.arguments) },
              },
            ],
          }),
        },
      },
    ],
    usage: {
      prompt_tokens: COUNTED.input,
      completion_tokens: COUNTED.output,
      total_tokens: COUNTED.input + COUNTED.output,
    },
  };
}

let responses = 0;

function responsesBody(said: Said): object {
  const step = stepOf(said);
  const number = responses++;
  return {
    id: `resp_whole_${number}`,
    object: 'response',
    created_at: 1_790_000_000,
    status: 'completed',
    model: responsesDouble.model,
    output: present<object>(
      step && {
        id: `rs_whole_${number}`,
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: step.thoughts }],
        encrypted_content: step.seal,
      },
      said.says && {
        id: `msg_whole_${number}`,
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: said.says, annotations: [], logprobs: [] }],
      },
      step && {
        id: `fc_whole_${number}`,
        type: 'function_call',
        call_id: step.call.id,
        name: step.call.name,
        arguments: JSON.stringify(step.call.arguments),
        status: 'completed',
      },
    ),
    usage: {
      input_tokens: COUNTED.input,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: COUNTED.output,
      output_tokens_details: { reasoning_tokens: 10 },
      total_tokens: COUNTED.input + COUNTED.output,
    },
  };
}

function messagesBody(said: Said): object {
  const step = stepOf(said);
  return {
    id: 'msg_double',
    type: 'message',
    role: 'assistant',
    model: messagesDouble.model,
    content: present<object>(
      step && { type: 'thinking', thinking: step.thoughts, signature: step.seal },
      said.says && { type: 'text', text: said.says },
      step && { type: 'tool_use', id: step.call.id, name: step.call.name, input: step.call.arguments },
    ),
    stop_reason: step === undefined ? 'end_turn' : 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: COUNTED.input, output_tokens: COUNTED.output },
  };
}

function geminiBody(said: Said): object {
  const step = stepOf(said);
  const parts = present<object>(
    step && { text: step.thoughts, thought: true },
    said.says && { text: said.says },
    step && {
      functionCall: { id: step.call.id, name: step.call.name, args: step.call.arguments },
      thoughtSignature: step.seal,
    },
  );
  return {
    candidates: [{ content: { role: 'model', parts }, index: 0, finishReason: 'STOP' }],
    usageMetadata: {
      promptTokenCount: COUNTED.input,
      candidatesTokenCount: COUNTED.output,
      totalTokenCount: COUNTED.input + COUNTED.output,
    },
    modelVersion: geminiDouble.model,
    responseId: 'response-double',
  };
}

function bedrockBody(said: Said): object {
  const step = stepOf(said);
  const content = present<object>(
    step && { reasoningContent: { reasoningText: { text: step.thoughts, signature: step.seal } } },
    said.says && { text: said.says },
    step && { toolUse: { toolUseId: step.call.id, name: step.call.name, input: step.call.arguments } },
  );
  return {
    output: { message: { role: 'assistant', content } },
    stopReason: step === undefined ? 'end_turn' : 'tool_use',
    usage: {
      inputTokens: COUNTED.input,
      outputTokens: COUNTED.output,
      totalTokens: COUNTED.input + COUNTED.output,
    },
    metrics: { latencyMs: 12 },
  };
}
