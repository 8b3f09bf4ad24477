import {
  assistant,
  chat,
  everywhere,
  messages,
  type RequestChapter,
  responses,
  row,
  says,
  user,
  type Wire,
} from '../request-feature.ts';

const BROKEN = '{"city": Oslo';

const TOOL = { type: 'function', name: 'weather', parameters: { type: 'object' } };
const CHAT_TOOL = { type: 'function', function: { name: 'weather', parameters: { type: 'object' } } };
const MESSAGES_TOOL = { name: 'weather', input_schema: { type: 'object' } };

const resultsIn = (body: Wire) =>
  /"(tool_result|toolResult|functionResponse|function_call_output|tool_call_id)"/.exec(JSON.stringify(body));
const RESULTS = /"(tool_result|toolResult|functionResponse|function_call_output|tool_call_id)"/g;
const countOf = (pattern: RegExp, body: Wire) => JSON.stringify(body).match(pattern)?.length;
const callsIn = (body: Wire) =>
  /"(tool_use|toolUse|functionCall|function_call|tool_calls)"/.exec(JSON.stringify(body));

export const BAD_INPUT: RequestChapter = {
  title: 'Bad input',
  features: [
    row({
      title: 'Arguments of a call that are not JSON',
      note: 'Models write such arguments, and agents send them back. If the upstream needs an object, they become `{"raw": "..."}`.',
      asked: {
        responses: responses(
          [
            user(),
            { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: BROKEN },
            { type: 'function_call_output', call_id: 'call_1', output: 'Rain' },
          ],
          { tools: [TOOL] },
        ),
        chat: chat(
          [
            user(),
            {
              role: 'assistant',
              tool_calls: [
                { id: 'call_1', type: 'function', function: { name: 'weather', arguments: BROKEN } },
              ],
            },
            { role: 'tool', tool_call_id: 'call_1', content: 'Rain' },
          ],
          { tools: [CHAT_TOOL] },
        ),
      },
      arrives: {
        responses: (body) => body.input[1].arguments === BROKEN,
        messages: (body) => body.messages[1].content[0].input.raw === BROKEN,
        chat: (body) => JSON.parse(body.messages[1].tool_calls[0].function.arguments).raw === BROKEN,
        gemini: (body) => body.contents[1].parts[0].functionCall.args.raw === BROKEN,
        bedrock: (body) => body.messages[1].content[0].toolUse.input.raw === BROKEN,
      },
      verdicts: {
        messages: '-       -    -    -       -',
        responses: 'adapted kept adapted adapted adapted',
        chat: 'adapted kept adapted adapted adapted',
      },
    }),
    row({
      title: 'Result without its call',
      note: 'Becomes user text: upstreams refuse a result that answers no call.',
      asked: {
        responses: responses([user(), { type: 'function_call_output', call_id: 'call_9', output: 'Rain' }], {
          tools: [TOOL],
        }),
        messages: messages(
          [
            user([
              { type: 'text', text: 'Hello' },
              { type: 'tool_result', tool_use_id: 'call_9', content: 'Rain' },
            ]),
          ],
          { tools: [MESSAGES_TOOL] },
        ),
        chat: chat([user(), { role: 'tool', tool_call_id: 'call_9', content: 'Rain' }], {
          tools: [CHAT_TOOL],
        }),
      },
      arrives: everywhere((body) => says('Rain')(body) && resultsIn(body) === null),
      verdicts: {
        messages: 'adapted adapted adapted adapted adapted',
        responses: 'adapted adapted adapted adapted adapted',
        chat: 'adapted adapted adapted adapted adapted',
      },
    }),
    row({
      title: 'Call without its result',
      note: 'Gets a result that says there is none: upstreams refuse an unanswered call.',
      asked: {
        responses: responses(
          [
            user(),
            { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{}' },
            user('Never mind.'),
          ],
          { tools: [TOOL] },
        ),
        messages: messages(
          [
            user(),
            { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'weather', input: {} }] },
            user('Never mind.'),
          ],
          { tools: [MESSAGES_TOOL] },
        ),
        chat: chat(
          [
            user(),
            {
              role: 'assistant',
              tool_calls: [
                { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{}' } },
              ],
            },
            user('Never mind.'),
          ],
          { tools: [CHAT_TOOL] },
        ),
      },
      arrives: everywhere((body) => callsIn(body) !== null),
      verdicts: {
        messages: 'adapted adapted adapted adapted adapted',
        responses: 'adapted adapted adapted adapted adapted',
        chat: 'adapted adapted adapted adapted adapted',
      },
    }),
    row({
      title: 'Second result of one call',
      note: 'The second one becomes user text.',
      asked: {
        responses: responses(
          [
            user(),
            { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{}' },
            { type: 'function_call_output', call_id: 'call_1', output: 'Rain' },
            { type: 'function_call_output', call_id: 'call_1', output: 'Sun' },
          ],
          { tools: [TOOL] },
        ),
        messages: messages(
          [
            user(),
            { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'weather', input: {} }] },
            user([
              { type: 'tool_result', tool_use_id: 'call_1', content: 'Rain' },
              { type: 'tool_result', tool_use_id: 'call_1', content: 'Sun' },
            ]),
          ],
          { tools: [MESSAGES_TOOL] },
        ),
        chat: chat(
          [
            user(),
            {
              role: 'assistant',
              tool_calls: [
                { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{}' } },
              ],
            },
            { role: 'tool', tool_call_id: 'call_1', content: 'Rain' },
            { role: 'tool', tool_call_id: 'call_1', content: 'Sun' },
          ],
          { tools: [CHAT_TOOL] },
        ),
      },
      arrives: everywhere((body) => says('Rain')(body) && says('Sun')(body) && countOf(RESULTS, body) === 1),
      verdicts: {
        messages: 'adapted adapted adapted adapted adapted',
        responses: 'adapted adapted adapted adapted adapted',
        chat: 'adapted adapted adapted adapted adapted',
      },
    }),
    row({
      title: 'Reasoning with an empty signature',
      note: 'Anthropic and Bedrock would refuse it, and chat upstreams take no reasoning text. OpenAI and Gemini get the text.',
      asked: {
        messages: messages([
          user(),
          assistant([
            { type: 'thinking', thinking: 'Two and two', signature: '' },
            { type: 'text', text: 'Four.' },
          ]),
          user('Go on'),
        ]),
      },
      arrives: everywhere(says('Two and two')),
      verdicts: {
        messages: 'dropped kept dropped kept dropped',
        responses: '-       -    -       -    -',
        chat: '-       -    -       -    -',
      },
    }),
    row({
      title: 'Unreadable image',
      note: 'Broken or empty base64, an invalid address, or one with an unsupported scheme: 400 with the path.',
      asked: {
        responses: responses([user([{ type: 'input_image', image_url: 'data:image/png;base64,%%%' }])]),
        messages: messages([
          user([{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: '%%%' } }]),
        ]),
        chat: chat([user([{ type: 'image_url', image_url: { url: 'ftp://a.example/cat.png' } }])]),
      },
      arrives: everywhere(() => true),
      verdicts: {
        messages: 'refused refused refused refused refused',
        responses: 'refused refused refused refused refused',
        chat: 'refused refused refused refused refused',
      },
    }),
    row({
      title: 'Items of an unknown type',
      note: 'Relayed to upstreams of the same format, which may know them.',
      asked: {
        responses: responses([user(), { type: 'hologram', id: 'h_1' }]),
        messages: messages([
          user([
            { type: 'text', text: 'Hello' },
            { type: 'hologram', id: 'h_1' },
          ]),
        ]),
        chat: chat([
          user([
            { type: 'text', text: 'Hello' },
            { type: 'hologram', id: 'h_1' },
          ]),
        ]),
      },
      arrives: everywhere(says('hologram')),
      verdicts: {
        messages: 'kept    dropped dropped dropped dropped',
        responses: 'dropped kept    dropped dropped dropped',
        chat: 'dropped dropped kept    dropped dropped',
      },
    }),
  ],
};
