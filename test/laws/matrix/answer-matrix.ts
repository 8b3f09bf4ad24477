import type { JsonObject } from '../../../src/kit/json/json.ts';
import type { AnswerFeature } from './answer-feature.ts';
import { bedrockAnswer } from './answers/bedrock.ts';
import { chatAnswer } from './answers/chat.ts';
import { geminiAnswer } from './answers/gemini.ts';
import { messagesAnswer } from './answers/messages.ts';
import { responsesAnswer, said } from './answers/responses.ts';
import { chat, messages, responses, says, user, type Wire } from './request-feature.ts';
import { ALL_KEPT, type Verdicts } from './verdict.ts';

function row(feature: Omit<AnswerFeature, 'verdicts'> & { readonly verdicts?: Verdicts }): AnswerFeature {
  return { verdicts: ALL_KEPT, ...feature };
}

const ARGUMENTS = '{"city":"Oslo"}';
const INPUT = { city: 'Oslo' };

const calls = (...ids: string[]) => ({
  messages: messagesAnswer(
    ids.map((id) => ({ type: 'tool_use', id, name: 'weather', input: INPUT })),
    { stop_reason: 'tool_use' },
  ),
  responses: responsesAnswer(
    ids.map((id) => ({ type: 'function_call', call_id: id, name: 'weather', arguments: ARGUMENTS })),
  ),
  chat: chatAnswer(
    {
      content: null,
      tool_calls: ids.map((id) => ({
        id,
        type: 'function',
        function: { name: 'weather', arguments: ARGUMENTS },
      })),
    },
    { finish_reason: 'tool_calls' },
  ),
  gemini: geminiAnswer(ids.map((id) => ({ functionCall: { id, name: 'weather', args: INPUT } }))),
  bedrock: bedrockAnswer(
    ids.map((id) => ({ toolUse: { toolUseId: id, name: 'weather', input: INPUT } })),
    { stopReason: 'tool_use' },
  ),
});

export const TOOLS: Readonly<Record<'responses' | 'messages' | 'chat', JsonObject>> = {
  responses: responses('Hello', {
    tools: [{ type: 'function', name: 'weather', parameters: { type: 'object' } }],
  }),
  messages: messages([user()], { tools: [{ name: 'weather', input_schema: { type: 'object' } }] }),
  chat: chat([user()], { tools: [{ type: 'function', function: { name: 'weather' } }] }),
};

/** An id without the mark of the upstream that gave it. */
const plainId = (id: string) => id.replace(/^gemini_/, '');

/** The calls of a reply: `id name(arguments)`. */
const called = {
  responses: (reply: Wire) =>
    reply.output
      .filter(({ type }: Wire) => type === 'function_call')
      .map((call: Wire) => `${plainId(call.call_id)} ${call.name}(${call.arguments})`)
      .join(),
  messages: (reply: Wire) =>
    reply.content
      .filter(({ type }: Wire) => type === 'tool_use')
      .map((call: Wire) => `${plainId(call.id)} ${call.name}(${JSON.stringify(call.input)})`)
      .join(),
  chat: (reply: Wire) =>
    reply.choices[0].message.tool_calls
      .map((call: Wire) => `${plainId(call.id)} ${call.function.name}(${call.function.arguments})`)
      .join(),
};

const told = (list: string) => ({
  responses: { kept: (reply: Wire) => called.responses(reply) === list && reply.status === 'completed' },
  messages: { kept: (reply: Wire) => called.messages(reply) === list && reply.stop_reason === 'tool_use' },
  chat: {
    kept: (reply: Wire) => called.chat(reply) === list && reply.choices[0].finish_reason === 'tool_calls',
  },
});

const THOUGHT = 'Two plus two.';
const SIGNATURE = 'c2lnbmF0dXJlIG9mIHRob3VnaHRz';
const HIDDEN = 'aGlkZGVuIHRob3VnaHRz';

/** Readable reasoning with its seal. */
export const THOUGHTS = {
  messages: messagesAnswer([
    { type: 'thinking', thinking: THOUGHT, signature: SIGNATURE },
    { type: 'text', text: 'Four.' },
  ]),
  responses: responsesAnswer([
    { type: 'reasoning', summary: [{ type: 'summary_text', text: THOUGHT }], encrypted_content: SIGNATURE },
    said('Four.'),
  ]),
  chat: chatAnswer({
    reasoning: THOUGHT,
    reasoning_details: [
      {
        type: 'reasoning.text',
        text: THOUGHT,
        signature: SIGNATURE,
        format: 'anthropic-claude-v1',
        index: 0,
      },
    ],
    content: 'Four.',
  }),
  gemini: geminiAnswer([{ text: THOUGHT, thought: true, thoughtSignature: SIGNATURE }, { text: 'Four.' }]),
  bedrock: bedrockAnswer([
    { reasoningContent: { reasoningText: { text: THOUGHT, signature: SIGNATURE } } },
    { text: 'Four.' },
  ]),
};

/** Reasoning that only its maker can read. */
export const HIDDEN_THOUGHTS = {
  messages: messagesAnswer([
    { type: 'redacted_thinking', data: HIDDEN },
    { type: 'text', text: 'Four.' },
  ]),
  responses: responsesAnswer([{ type: 'reasoning', summary: [], encrypted_content: HIDDEN }, said('Four.')]),
  chat: chatAnswer({
    reasoning_details: [
      { type: 'reasoning.encrypted', data: HIDDEN, format: 'openai-responses-v1', id: 'rs_1', index: 0 },
    ],
    content: 'Four.',
  }),
  gemini: geminiAnswer([{ text: 'Four.' }, { text: '', thoughtSignature: HIDDEN }]),
  bedrock: bedrockAnswer([
    { reasoningContent: { redactedContent: Buffer.from(HIDDEN).toString('base64') } },
    { text: 'Four.' },
  ]),
};

/** A call with a seal of its own. */
export const SEALED_CALL = {
  gemini: geminiAnswer([
    { functionCall: { id: 'call_1', name: 'weather', args: INPUT }, thoughtSignature: SIGNATURE },
  ]),
};

/** What those answers hold. */
export const SEALS = { THOUGHT, SIGNATURE, HIDDEN };

const COUNTED = {
  messages: messagesAnswer(
    [{ type: 'text', text: 'Hi' }],
    {},
    {
      input_tokens: 10,
      cache_read_input_tokens: 60,
      cache_creation_input_tokens: 30,
      output_tokens: 20,
      output_tokens_details: { thinking_tokens: 5 },
    },
  ),
  responses: responsesAnswer(
    [said('Hi')],
    {},
    {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
      output_tokens: 20,
      output_tokens_details: { reasoning_tokens: 5 },
      total_tokens: 120,
    },
  ),
  chat: chatAnswer(
    { content: 'Hi' },
    {},
    {
      prompt_tokens: 100,
      completion_tokens: 20,
      total_tokens: 120,
      prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
      completion_tokens_details: { reasoning_tokens: 5 },
    },
  ),
  gemini: geminiAnswer(
    [{ text: 'Hi' }],
    {},
    {
      promptTokenCount: 100,
      cachedContentTokenCount: 60,
      candidatesTokenCount: 15,
      thoughtsTokenCount: 5,
      totalTokenCount: 120,
    },
  ),
  bedrock: bedrockAnswer(
    [{ text: 'Hi' }],
    {},
    {
      inputTokens: 10,
      cacheReadInputTokens: 60,
      cacheWriteInputTokens: 30,
      outputTokens: 20,
      totalTokens: 120,
    },
  ),
};

const stopping = {
  messages: messages([user()], { stop_sequences: ['END'] }),
  chat: chat([user()], { stop: ['END'] }),
};

const PICTURE = 'iVBORw0KGgo=';
const PNG = `data:image/png;base64,${PICTURE}`;
const PAGE = 'https://example.com/tides';
const LOGPROB = { token: 'Hi', logprob: -0.25, bytes: [72, 105], top_logprobs: [] };

const NAMESPACED = {
  responses: responses('Hello', {
    tools: [
      {
        type: 'namespace',
        name: 'sky',
        description: '',
        tools: [{ type: 'function', name: 'weather', parameters: { type: 'object' } }],
      },
    ],
  }),
};

const FREE_TEXT = {
  responses: responses('Hello', { tools: [{ type: 'custom', name: 'patch' }] }),
  chat: chat([user()], { tools: [{ type: 'custom', custom: { name: 'patch' } }] }),
};

const BROKEN = '{"city": Oslo';

const PATCH = { input: '*** Begin' };

/** What answers may contain: the table behind the tests and the page. */
export const ANSWER_MATRIX: readonly AnswerFeature[] = [
  row({
    title: 'Text',
    answered: {
      messages: messagesAnswer([{ type: 'text', text: 'Hello there' }]),
      responses: responsesAnswer([said('Hello there')]),
      chat: chatAnswer({ content: 'Hello there' }),
      gemini: geminiAnswer([{ text: 'Hello ' }, { text: 'there' }]),
      bedrock: bedrockAnswer([{ text: 'Hello there' }]),
    },
    reads: {
      responses: {
        kept: (reply) => reply.output[0].content[0].text === 'Hello there' && reply.status === 'completed',
      },
      messages: {
        kept: (reply) => reply.content[0].text === 'Hello there' && reply.stop_reason === 'end_turn',
      },
      chat: {
        kept: ({ choices: [choice] }) =>
          choice.message.content === 'Hello there' && choice.finish_reason === 'stop',
      },
    },
  }),
  row({
    title: 'Tool call',
    asked: TOOLS,
    answered: calls('call_1'),
    reads: told(`call_1 weather(${ARGUMENTS})`),
  }),
  row({
    title: 'Parallel tool calls',
    asked: TOOLS,
    answered: calls('call_1', 'call_2'),
    reads: told(`call_1 weather(${ARGUMENTS}),call_2 weather(${ARGUMENTS})`),
  }),
  row({
    title: 'Call of a tool in a group (`namespace`)',
    asked: NAMESPACED,
    answered: {
      messages: messagesAnswer([{ type: 'tool_use', id: 'call_1', name: 'sky__weather', input: INPUT }], {
        stop_reason: 'tool_use',
      }),
      responses: responsesAnswer([
        { type: 'function_call', call_id: 'call_1', name: 'weather', namespace: 'sky', arguments: ARGUMENTS },
      ]),
      chat: chatAnswer(
        {
          tool_calls: [
            { id: 'call_1', type: 'function', function: { name: 'sky__weather', arguments: ARGUMENTS } },
          ],
        },
        { finish_reason: 'tool_calls' },
      ),
      gemini: geminiAnswer([{ functionCall: { id: 'call_1', name: 'sky__weather', args: INPUT } }]),
      bedrock: bedrockAnswer([{ toolUse: { toolUseId: 'call_1', name: 'sky__weather', input: INPUT } }], {
        stopReason: 'tool_use',
      }),
    },
    reads: {
      responses: {
        kept: ({ output: [call] }) =>
          call.name === 'weather' && call.namespace === 'sky' && call.arguments === ARGUMENTS,
      },
    },
    verdicts: {
      messages: '-    -    -    -    -',
      responses: 'kept kept kept kept kept',
      chat: '-    -    -    -    -',
    },
  }),
  row({
    title: 'Call of a free-text tool (`custom`)',
    asked: FREE_TEXT,
    answered: {
      messages: messagesAnswer([{ type: 'tool_use', id: 'call_1', name: 'patch', input: PATCH }], {
        stop_reason: 'tool_use',
      }),
      responses: responsesAnswer([
        { type: 'custom_tool_call', call_id: 'call_1', name: 'patch', input: PATCH.input },
      ]),
      chat: chatAnswer(
        {
          tool_calls: [
            { id: 'call_1', type: 'function', function: { name: 'patch', arguments: JSON.stringify(PATCH) } },
          ],
        },
        { finish_reason: 'tool_calls' },
      ),
      gemini: geminiAnswer([{ functionCall: { id: 'call_1', name: 'patch', args: PATCH } }]),
      bedrock: bedrockAnswer([{ toolUse: { toolUseId: 'call_1', name: 'patch', input: PATCH } }], {
        stopReason: 'tool_use',
      }),
    },
    relayed: {
      chat: chatAnswer(
        { tool_calls: [{ id: 'call_1', type: 'custom', custom: { name: 'patch', input: PATCH.input } }] },
        { finish_reason: 'tool_calls' },
      ),
    },
    reads: {
      responses: {
        kept: ({ output: [call] }) => call.type === 'custom_tool_call' && call.input === PATCH.input,
      },
      chat: { kept: ({ choices: [choice] }) => choice.message.tool_calls[0].custom.input === PATCH.input },
    },
    verdicts: {
      messages: '-    -    -    -    -',
      responses: 'kept kept kept kept kept',
      chat: 'kept kept kept kept kept',
    },
  }),
  row({
    title: 'Arguments that are not JSON',
    note: 'The messages format has objects only: a whole answer has the text as `{"raw": "..."}`, a stream has it unchanged.',
    asked: TOOLS,
    answered: {
      responses: responsesAnswer([
        { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: BROKEN },
      ]),
      chat: chatAnswer(
        {
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'weather', arguments: BROKEN } }],
        },
        { finish_reason: 'tool_calls' },
      ),
    },
    reads: {
      responses: { kept: ({ output: [call] }) => call.arguments === BROKEN },
      messages: {
        kept: () => false,
        adapted: ({ content: [call] }) => call.input === BROKEN || call.input.raw === BROKEN,
      },
      chat: {
        kept: ({ choices: [choice] }) => choice.message.tool_calls[0].function.arguments === BROKEN,
      },
    },
    verdicts: {
      messages: '- adapted adapted - -',
      responses: '- kept    kept    - -',
      chat: '- kept    kept    - -',
    },
  }),
  row({
    title: 'Reasoning',
    answered: THOUGHTS,
    reads: {
      responses: {
        kept: ({ output: [thoughts] }) => thoughts.type === 'reasoning' && says(THOUGHT)(thoughts),
      },
      messages: { kept: ({ content: [thoughts] }) => thoughts.thinking === THOUGHT && thoughts.signature },
      chat: { kept: ({ choices: [choice] }) => choice.message.reasoning === THOUGHT },
    },
  }),
  row({
    title: 'Hidden reasoning (redacted, encrypted)',
    answered: HIDDEN_THOUGHTS,
    reads: {
      responses: {
        kept: ({ output }) =>
          output.some((item: Wire) => item.type === 'reasoning' && item.encrypted_content),
      },
      messages: {
        kept: ({ content }) =>
          content.some((block: Wire) => block.type === 'redacted_thinking' && block.data),
      },
      chat: {
        kept: ({ choices: [choice] }) => choice.message.reasoning_details[0].type === 'reasoning.encrypted',
      },
    },
  }),
  row({
    title: 'Token counts',
    note: 'The sum is the same everywhere: the messages format counts tokens read from and written to a cache beside the input, the others within it.',
    answered: COUNTED,
    reads: {
      responses: { kept: ({ usage }) => usage.input_tokens === 100 && usage.output_tokens === 20 },
      messages: {
        kept: ({ usage }) =>
          usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens === 100 &&
          usage.output_tokens === 20,
      },
      chat: {
        kept: ({ usage }) =>
          usage.prompt_tokens === 100 && usage.completion_tokens === 20 && usage.total_tokens === 120,
      },
    },
  }),
  row({
    title: 'Tokens read from a cache',
    answered: COUNTED,
    reads: {
      responses: { kept: ({ usage }) => usage.input_tokens_details.cached_tokens === 60 },
      messages: { kept: ({ usage }) => usage.cache_read_input_tokens === 60 },
      chat: { kept: ({ usage }) => usage.prompt_tokens_details.cached_tokens === 60 },
    },
  }),
  row({
    title: 'Tokens written to a cache',
    answered: {
      messages: COUNTED.messages,
      responses: COUNTED.responses,
      chat: COUNTED.chat,
      bedrock: COUNTED.bedrock,
    },
    reads: {
      responses: { kept: ({ usage }) => usage.input_tokens_details.cache_write_tokens === 30 },
      messages: {
        kept: ({ usage }) => usage.cache_creation_input_tokens === 30 && usage.input_tokens === 10,
      },
      chat: { kept: ({ usage }) => usage.prompt_tokens_details.cache_write_tokens === 30 },
    },
    verdicts: {
      messages: 'kept kept kept - kept',
      responses: 'kept kept kept - kept',
      chat: 'kept kept kept - kept',
    },
  }),
  row({
    title: 'Reasoning tokens',
    answered: {
      messages: COUNTED.messages,
      responses: COUNTED.responses,
      chat: COUNTED.chat,
      gemini: COUNTED.gemini,
    },
    reads: {
      responses: { kept: ({ usage }) => usage.output_tokens_details.reasoning_tokens === 5 },
      messages: { kept: ({ usage }) => usage.output_tokens_details.thinking_tokens === 5 },
      chat: { kept: ({ usage }) => usage.completion_tokens_details.reasoning_tokens === 5 },
    },
    verdicts: {
      messages: 'kept kept kept kept -',
      responses: 'kept kept kept kept -',
      chat: 'kept kept kept kept -',
    },
  }),
  row({
    title: 'Which stop sequence was hit',
    note: 'Only the messages format has a field for it; in the others the answer just ends.',
    asked: stopping,
    answered: {
      messages: messagesAnswer([{ type: 'text', text: 'Hi' }], {
        stop_reason: 'stop_sequence',
        stop_sequence: 'END',
      }),
      bedrock: bedrockAnswer([{ text: 'Hi' }], {
        stopReason: 'stop_sequence',
        additionalModelResponseFields: { stop_sequence: 'END', delta: { stop_sequence: 'END' } },
      }),
    },
    reads: {
      messages: {
        kept: (reply) => reply.stop_reason === 'stop_sequence' && reply.stop_sequence === 'END',
      },
      chat: { kept: () => false, adapted: ({ choices: [choice] }) => choice.finish_reason === 'stop' },
    },
    verdicts: {
      messages: 'kept    - - - kept',
      responses: '-       - - - -',
      chat: 'adapted - - - adapted',
    },
  }),
  row({
    title: 'Output limit reached',
    answered: {
      messages: messagesAnswer([{ type: 'text', text: 'Once' }], { stop_reason: 'max_tokens' }),
      responses: responsesAnswer([{ ...said('Once'), status: 'incomplete' }], {
        status: 'incomplete',
        incomplete_details: { reason: 'max_output_tokens' },
      }),
      chat: chatAnswer({ content: 'Once' }, { finish_reason: 'length' }),
      gemini: geminiAnswer([{ text: 'Once' }], { finishReason: 'MAX_TOKENS' }),
      bedrock: bedrockAnswer([{ text: 'Once' }], { stopReason: 'max_tokens' }),
    },
    reads: {
      responses: {
        kept: (reply) =>
          reply.status === 'incomplete' &&
          reply.incomplete_details.reason === 'max_output_tokens' &&
          reply.output[0].status === 'incomplete',
      },
      messages: { kept: (reply) => reply.stop_reason === 'max_tokens' },
      chat: { kept: ({ choices: [choice] }) => choice.finish_reason === 'length' },
    },
  }),
  row({
    title: 'Refusal by the model',
    answered: {
      messages: messagesAnswer([{ type: 'text', text: 'I would rather not.' }], { stop_reason: 'refusal' }),
      responses: responsesAnswer([
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'refusal', refusal: 'I would rather not.' }],
        },
      ]),
      chat: chatAnswer({ content: null, refusal: 'I would rather not.' }),
      bedrock: bedrockAnswer([{ text: 'I would rather not.' }], { stopReason: 'refusal' }),
    },
    reads: {
      responses: {
        kept: ({ output }) =>
          says('I would rather not.')(output) &&
          output.some((item: Wire) => item.content.some(({ type }: Wire) => type === 'refusal')),
      },
      messages: { kept: (reply) => reply.stop_reason === 'refusal' && says('I would rather not.')(reply) },
      chat: {
        kept: ({ choices: [choice] }) =>
          choice.message.refusal === 'I would rather not.' ||
          (choice.finish_reason === 'content_filter' && choice.message.content === 'I would rather not.'),
      },
    },
    verdicts: {
      messages: 'kept kept kept - kept',
      responses: 'kept kept kept - kept',
      chat: 'kept kept kept - kept',
    },
  }),
  row({
    title: 'Answer cut by a filter',
    answered: {
      responses: responsesAnswer([{ ...said('Well,'), status: 'incomplete' }], {
        status: 'incomplete',
        incomplete_details: { reason: 'content_filter' },
      }),
      chat: chatAnswer({ content: 'Well,' }, { finish_reason: 'content_filter' }),
      gemini: geminiAnswer([{ text: 'Well,' }], { finishReason: 'SAFETY' }),
      bedrock: bedrockAnswer([{ text: 'Well,' }], { stopReason: 'content_filtered' }),
    },
    reads: {
      responses: {
        kept: (reply) =>
          reply.status === 'incomplete' && reply.incomplete_details.reason === 'content_filter',
      },
      messages: { kept: (reply) => reply.stop_reason === 'refusal' },
      chat: { kept: ({ choices: [choice] }) => choice.finish_reason === 'content_filter' },
    },
    verdicts: {
      messages: '- kept kept kept kept',
      responses: '- kept kept kept kept',
      chat: '- kept kept kept kept',
    },
  }),
  row({
    title: 'Citation of a page',
    answered: {
      messages: messagesAnswer([
        {
          type: 'text',
          text: 'High at nine.',
          citations: [
            {
              type: 'web_search_result_location',
              cited_text: 'nine',
              encrypted_index: 'e1',
              title: 'Tides',
              url: PAGE,
            },
          ],
        },
      ]),
      responses: responsesAnswer([
        said('High at nine.', {
          annotations: [{ type: 'url_citation', url: PAGE, title: 'Tides', start_index: 0, end_index: 4 }],
        }),
      ]),
      chat: chatAnswer({
        content: 'High at nine.',
        annotations: [
          { type: 'url_citation', url_citation: { url: PAGE, title: 'Tides', start_index: 0, end_index: 4 } },
        ],
      }),
      gemini: geminiAnswer([{ text: 'High at nine.' }], {
        groundingMetadata: {
          groundingChunks: [{ web: { uri: PAGE, title: 'Tides' } }],
          groundingSupports: [{ segment: { startIndex: 0, endIndex: 4 }, groundingChunkIndices: [0] }],
        },
      }),
      bedrock: bedrockAnswer([
        {
          citationsContent: {
            content: [{ text: 'High at nine.' }],
            citations: [
              { title: 'Tides', sourceContent: [{ text: 'nine' }], location: { web: { url: PAGE } } },
            ],
          },
        },
      ]),
    },
    reads: {
      responses: {
        kept: ({ output }) => {
          const [annotation] = output[0].content[0].annotations;
          return (
            annotation.type === 'url_citation' && annotation.url === PAGE && annotation.title === 'Tides'
          );
        },
      },
      messages: {
        kept: ({ content }) =>
          content[0].citations[0].url === PAGE && content[0].citations[0].title === 'Tides',
      },
      chat: {
        kept: ({ choices: [choice] }) => {
          const [annotation] = choice.message.annotations;
          return annotation.url_citation.url === PAGE && annotation.url_citation.title === 'Tides';
        },
      },
    },
  }),
  row({
    title: 'Search that the upstream ran',
    note: 'Its item or blocks show the query and the pages, without their texts; pages that a responses upstream only opened are not shown in the messages format. Sent back to another upstream, it is a call with what is shown of its result.',
    answered: {
      messages: messagesAnswer([
        { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'tides' } },
        {
          type: 'web_search_tool_result',
          tool_use_id: 'srvtoolu_1',
          content: [{ type: 'web_search_result', url: PAGE, title: 'Tides', encrypted_content: 'e' }],
        },
        { type: 'text', text: 'High at nine.' },
      ]),
      responses: responsesAnswer([
        {
          type: 'web_search_call',
          action: { type: 'search', query: 'tides', sources: [{ type: 'url', url: PAGE }] },
        },
        said('High at nine.'),
      ]),
    },
    reads: {
      responses: {
        kept: ({ output: [search, message] }) =>
          search.type === 'web_search_call' &&
          search.status === 'completed' &&
          search.action.query === 'tides' &&
          search.action.sources[0].url === PAGE &&
          message.type === 'message',
      },
      messages: {
        kept: ({ content: [use, result, text] }) =>
          use.type === 'server_tool_use' &&
          use.input.query === 'tides' &&
          result.type === 'web_search_tool_result' &&
          result.tool_use_id === use.id &&
          result.content[0].url === PAGE &&
          text.type === 'text',
      },
    },
    verdicts: {
      messages: 'kept    kept    - - -',
      responses: 'kept    kept    - - -',
      chat: 'dropped dropped - - -',
    },
  }),
  row({
    title: "Citation of the caller's own document",
    answered: {
      messages: messagesAnswer([
        {
          type: 'text',
          text: 'High at nine.',
          citations: [
            {
              type: 'char_location',
              cited_text: 'nine',
              document_index: 0,
              document_title: 'Tides',
              start_char_index: 0,
              end_char_index: 4,
              file_id: null,
            },
          ],
        },
      ]),
      bedrock: bedrockAnswer([
        {
          citationsContent: {
            content: [{ text: 'High at nine.' }],
            citations: [
              {
                title: 'Tides',
                sourceContent: [{ text: 'nine' }],
                location: { documentChar: { documentIndex: 0, start: 0, end: 4 } },
              },
            ],
          },
        },
      ]),
    },
    reads: {
      messages: { kept: ({ content }) => content[0].citations[0].cited_text === 'nine' },
    },
    verdicts: {
      messages: 'kept    - - - kept',
      responses: 'dropped - - - dropped',
      chat: 'dropped - - - dropped',
    },
  }),
  row({
    title: 'Log probabilities',
    asked: {
      responses: responses('Hello', { include: ['message.output_text.logprobs'] }),
      chat: chat([user()], { logprobs: true }),
    },
    answered: {
      responses: responsesAnswer([said('Hi', { logprobs: [LOGPROB] })]),
      chat: chatAnswer({ content: 'Hi' }, { logprobs: { content: [LOGPROB] } }),
      gemini: geminiAnswer([{ text: 'Hi' }], {
        logprobsResult: { chosenCandidates: [{ token: 'Hi', logProbability: -0.25 }] },
      }),
    },
    reads: {
      responses: { kept: ({ output }) => output[0].content[0].logprobs[0].logprob === -0.25 },
      chat: { kept: ({ choices: [choice] }) => choice.logprobs.content[0].logprob === -0.25 },
    },
    verdicts: {
      messages: '- -    -    -    -',
      responses: '- kept kept kept -',
      chat: '- kept kept kept -',
    },
  }),
  row({
    title: 'Image made by the model',
    note: 'The messages format has no block for it: a text block contains it as a Markdown image. Sent back, it is an image again.',
    answered: {
      responses: responsesAnswer([{ type: 'image_generation_call', result: PICTURE, output_format: 'png' }]),
      chat: chatAnswer({ content: 'Here.', images: [{ type: 'image_url', image_url: { url: PNG } }] }),
      gemini: geminiAnswer([{ inlineData: { mimeType: 'image/png', data: PICTURE } }]),
      bedrock: bedrockAnswer([{ image: { format: 'png', source: { bytes: PICTURE } } }]),
    },
    reads: {
      responses: {
        kept: ({ output }) =>
          output.some((item: Wire) => item.type === 'image_generation_call' && item.result === PICTURE),
      },
      messages: { kept: () => false, adapted: says(`![image](${PNG})`) },
      chat: { kept: ({ choices: [choice] }) => choice.message.images[0].image_url.url === PNG },
    },
    verdicts: {
      messages: '- adapted adapted adapted adapted',
      responses: '- kept    kept    kept    kept',
      chat: '- kept    kept    kept    kept',
    },
  }),
  row({
    title: 'Tier that served',
    answered: {
      messages: messagesAnswer(
        [{ type: 'text', text: 'Hi' }],
        {},
        {
          input_tokens: 9,
          output_tokens: 4,
          service_tier: 'priority',
        },
      ),
      responses: responsesAnswer([said('Hi')], { service_tier: 'priority' }),
      chat: chatAnswer({ content: 'Hi' }, {}, undefined, { service_tier: 'priority' }),
      bedrock: bedrockAnswer([{ text: 'Hi' }], {}, undefined, { serviceTier: { type: 'priority' } }),
    },
    reads: {
      responses: { kept: (reply) => reply.service_tier === 'priority' },
      messages: { kept: ({ usage }) => usage.service_tier === 'priority' },
      chat: { kept: (reply) => reply.service_tier === 'priority' },
    },
    verdicts: {
      messages: 'kept kept kept - kept',
      responses: 'kept kept kept - kept',
      chat: 'kept kept kept - kept',
    },
  }),
];
