import type { Format } from '../../../../src/ir/items.ts';
import type { JsonObject } from '../../../../src/kit/json/json.ts';
import {
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

const SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const ABOUT = 'Tells the weather.';

/** The same two functions in each format. */
const TOOLS: Readonly<Record<Format, JsonObject[]>> = {
  responses: ['weather', 'tides'].map((name) => ({
    type: 'function',
    name,
    description: ABOUT,
    parameters: SCHEMA,
  })),
  messages: ['weather', 'tides'].map((name) => ({ name, description: ABOUT, input_schema: SCHEMA })),
  chat: ['weather', 'tides'].map((name) => ({
    type: 'function',
    function: { name, description: ABOUT, parameters: SCHEMA },
  })),
};

/** A request with those tools and a choice among them. */
function choosing(choice: Readonly<Partial<Record<Format, JsonObject>>>) {
  return {
    ...(choice.responses && {
      responses: responses('Hello', { tools: TOOLS.responses, ...choice.responses }),
    }),
    ...(choice.messages && {
      messages: messages([user()], { tools: TOOLS.messages, ...choice.messages }),
    }),
    ...(choice.chat && { chat: chat([user()], { tools: TOOLS.chat, ...choice.chat }) }),
  };
}

/** Names of the functions that a body declares. */
const declared: Readonly<Record<string, (body: Wire) => string>> = {
  responses: (body) => body.tools.map(({ name }: Wire) => name).join(),
  messages: (body) => body.tools.map(({ name }: Wire) => name).join(),
  chat: (body) => body.tools.map((tool: Wire) => tool.function.name).join(),
  gemini: (body) => body.tools[0].functionDeclarations.map(({ name }: Wire) => name).join(),
  bedrock: (body) => body.toolConfig.tools.map(({ toolSpec }: Wire) => toolSpec.name).join(),
};

const ARGUMENTS = '{"city":"Oslo"}';

/** Only the messages format has it. */
const LOADED = { responses: '', chat: '', messages: [{ type: 'tool_reference', tool_name: 'tides' }] };

/** One or several calls and their results, in each format. */
function exchange(
  calls: readonly { id: string; output: Readonly<Record<Format, unknown>> }[],
  resultMembers: JsonObject = {},
): Record<Format, JsonObject> {
  return {
    responses: responses(
      [
        user(),
        ...calls.map(({ id }) => ({
          type: 'function_call',
          call_id: id,
          name: 'weather',
          arguments: ARGUMENTS,
        })),
        ...calls.map(({ id, output }) => ({
          type: 'function_call_output',
          call_id: id,
          output: output.responses as JsonObject[],
        })),
      ],
      { tools: TOOLS.responses },
    ),
    messages: messages(
      [
        user(),
        {
          role: 'assistant',
          content: calls.map(({ id }) => ({
            type: 'tool_use',
            id,
            name: 'weather',
            input: { city: 'Oslo' },
          })),
        },
        {
          role: 'user',
          content: calls.map(({ id, output }) => ({
            type: 'tool_result',
            tool_use_id: id,
            content: output.messages as JsonObject[],
            ...resultMembers,
          })),
        },
      ],
      { tools: TOOLS.messages },
    ),
    chat: chat(
      [
        user(),
        {
          role: 'assistant',
          content: null,
          tool_calls: calls.map(({ id }) => ({
            id,
            type: 'function',
            function: { name: 'weather', arguments: ARGUMENTS },
          })),
        },
        ...calls.map(({ id, output }) => ({
          role: 'tool',
          tool_call_id: id,
          content: output.chat as JsonObject[],
        })),
      ],
      { tools: TOOLS.chat },
    ),
  };
}

const words = (text: string) => ({ responses: text, messages: text, chat: text });

const PICTURE = 'iVBORw0KGgo=';
const PNG = `data:image/png;base64,${PICTURE}`;
const PICTURES = {
  responses: [
    { type: 'input_text', text: 'A map:' },
    { type: 'input_image', image_url: PNG, detail: 'auto' },
  ],
  messages: [
    { type: 'text', text: 'A map:' },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PICTURE } },
  ],
  chat: [
    { type: 'text', text: 'A map:' },
    { type: 'image_url', image_url: { url: PNG } },
  ],
};

/** Results in a body: their text, with the id of the call if the dialect has ids. */
const results: Readonly<Record<string, (body: Wire) => string>> = {
  responses: (body) =>
    body.input
      .filter(({ type }: Wire) => type === 'function_call_output')
      .map(({ call_id, output }: Wire) => `${call_id}=${textOf(output)}`)
      .join(),
  messages: (body) =>
    body.messages
      .flatMap(({ content }: Wire) => content)
      .filter(({ type }: Wire) => type === 'tool_result')
      .map(({ tool_use_id, content }: Wire) => `${tool_use_id}=${textOf(content)}`)
      .join(),
  chat: (body) =>
    body.messages
      .filter(({ role }: Wire) => role === 'tool')
      .map(({ tool_call_id, content }: Wire) => `${tool_call_id}=${textOf(content)}`)
      .join(),
  gemini: (body) =>
    body.contents
      .flatMap(({ parts }: Wire) => parts)
      .filter(({ functionResponse }: Wire) => functionResponse)
      .map(
        ({ functionResponse }: Wire, position: number) =>
          `call_${position + 1}=${functionResponse.response.output}`,
      )
      .join(),
  bedrock: (body) =>
    body.messages
      .flatMap(({ content }: Wire) => content)
      .filter(({ toolResult }: Wire) => toolResult)
      .map(({ toolResult }: Wire) => `${toolResult.toolUseId}=${textOf(toolResult.content)}`)
      .join(),
};

function textOf(content: Wire): string {
  return typeof content === 'string' ? content : content.map(({ text = '' }: Wire) => text).join('');
}

/** The calls of the history, as they stand in a body. */
const called: Readonly<Record<string, (body: Wire) => string>> = {
  responses: (body) =>
    body.input
      .filter(({ type }: Wire) => type === 'function_call')
      .map((call: Wire) => `${call.name}(${call.arguments})`)
      .join(),
  messages: (body) =>
    body.messages
      .flatMap(({ content }: Wire) => content)
      .filter(({ type }: Wire) => type === 'tool_use')
      .map((call: Wire) => `${call.name}(${JSON.stringify(call.input)})`)
      .join(),
  chat: (body) =>
    body.messages
      .flatMap((message: Wire) => message.tool_calls ?? [])
      .map((call: Wire) => `${call.function.name}(${call.function.arguments})`)
      .join(),
  gemini: (body) =>
    body.contents
      .flatMap(({ parts }: Wire) => parts)
      .filter(({ functionCall }: Wire) => functionCall)
      .map(({ functionCall }: Wire) => `${functionCall.name}(${JSON.stringify(functionCall.args)})`)
      .join(),
  bedrock: (body) =>
    body.messages
      .flatMap(({ content }: Wire) => content)
      .filter(({ toolUse }: Wire) => toolUse)
      .map(({ toolUse }: Wire) => `${toolUse.name}(${JSON.stringify(toolUse.input)})`)
      .join(),
};

/** What the body of each dialect must contain of calls and results. */
function exchanged(calls: string, answers: string) {
  return Object.fromEntries(
    Object.keys(results).map((dialect) => [
      dialect,
      (body: Wire) => called[dialect]?.(body) === calls && results[dialect]?.(body) === answers,
    ]),
  ) as unknown as ReturnType<typeof everywhere>;
}

const ALL_DECLARED = Object.fromEntries(
  Object.entries(declared).map(([dialect, names]) => [
    dialect,
    (body: Wire) => names(body) === 'weather,tides',
  ]),
) as unknown as ReturnType<typeof everywhere>;

const CUSTOM_ABOUT = 'Runs a patch.';
const GRAMMAR = { type: 'grammar', syntax: 'regex', definition: 'a+b' };

export const TOOLS_CHAPTER: RequestChapter = {
  title: 'Tools',
  features: [
    row({
      title: 'Functions',
      asked: choosing({ responses: {}, messages: {}, chat: {} }),
      arrives: {
        responses: (body) => ALL_DECLARED.responses(body) && body.tools[0].parameters.required[0] === 'city',
        messages: (body) => ALL_DECLARED.messages(body) && body.tools[0].input_schema.required[0] === 'city',
        chat: (body) => ALL_DECLARED.chat(body) && body.tools[0].function.parameters.required[0] === 'city',
        gemini: (body) =>
          ALL_DECLARED.gemini(body) &&
          body.tools[0].functionDeclarations[0].parametersJsonSchema.required[0] === 'city',
        bedrock: (body) =>
          ALL_DECLARED.bedrock(body) &&
          body.toolConfig.tools[0].toolSpec.inputSchema.json.required[0] === 'city',
      },
    }),
    row({
      title: 'Strict arguments',
      asked: {
        responses: responses('Hello', { tools: [{ ...TOOLS.responses[0], strict: true }] }),
        messages: messages([user()], { tools: [{ ...TOOLS.messages[0], strict: true }] }),
        chat: chat([user()], {
          tools: [{ type: 'function', function: { name: 'weather', parameters: SCHEMA, strict: true } }],
        }),
      },
      arrives: {
        responses: (body) => body.tools[0].strict === true,
        messages: (body) => body.tools[0].strict === true,
        chat: (body) => body.tools[0].function.strict === true,
        gemini: (body) => body.toolConfig.functionCallingConfig.mode === 'VALIDATED',
        bedrock: (body) => body.toolConfig.tools[0].toolSpec.strict === true,
      },
      verdicts: {
        messages: 'kept    kept kept kept kept',
        responses: 'dropped kept kept kept dropped',
        chat: 'dropped kept kept kept dropped',
      },
    }),
    row({
      title: 'Call and result',
      asked: exchange([{ id: 'call_1', output: words('Rain') }]),
      arrives: exchanged(`weather(${ARGUMENTS})`, 'call_1=Rain'),
    }),
    row({
      title: 'Parallel calls and their results',
      asked: exchange([
        { id: 'call_1', output: words('Rain') },
        { id: 'call_2', output: words('Sun') },
      ]),
      arrives: exchanged(`weather(${ARGUMENTS}),weather(${ARGUMENTS})`, 'call_1=Rain,call_2=Sun'),
    }),
    row({
      title: 'One call at a time',
      asked: choosing({
        responses: { parallel_tool_calls: false },
        messages: { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
        chat: { parallel_tool_calls: false },
      }),
      arrives: {
        ...everywhere(says('parallel')),
        responses: (body) => body.parallel_tool_calls === false,
        messages: (body) => body.tool_choice.disable_parallel_tool_use === true,
        chat: (body) => body.parallel_tool_calls === false,
      },
      verdicts: {
        messages: 'kept kept kept dropped dropped',
        responses: 'kept kept kept dropped dropped',
        chat: 'kept kept kept dropped dropped',
      },
    }),
    row({
      title: 'Result with an image',
      asked: exchange([{ id: 'call_1', output: PICTURES }]),
      arrives: {
        responses: (body) => says(PNG)(body.input[2]),
        messages: (body) => body.messages[2].content[0].content[1].source.data === PICTURE,
        chat: (body) => says(PNG)(body.messages),
        gemini: (body) => body.contents[2].parts[0].functionResponse.parts[0].inlineData.data === PICTURE,
        bedrock: (body) => body.messages[2].content[0].toolResult.content[1].image.source.bytes === PICTURE,
      },
      verdicts: {
        messages: 'kept kept adapted kept kept',
        responses: 'kept kept adapted kept kept',
        chat: 'kept kept kept    kept kept',
      },
    }),
    row({
      title: 'Result that is an error',
      note: 'If the upstream has no field for it, the text of the result says so.',
      asked: {
        messages: exchange([{ id: 'call_1', output: words('No such city') }], { is_error: true }).messages,
      },
      arrives: {
        responses: (body) => /failed.*No such city/is.test(textOf(body.input[2].output)),
        messages: (body) => body.messages[2].content[0].is_error === true,
        chat: (body) => /failed.*No such city/is.test(textOf(body.messages[2].content)),
        gemini: (body) => body.contents[2].parts[0].functionResponse.response.error === 'No such city',
        bedrock: (body) => body.messages[2].content[0].toolResult.status === 'error',
      },
      verdicts: {
        messages: 'kept adapted adapted kept kept',
        responses: '-    -       -       -    -',
        chat: '-    -       -       -    -',
      },
    }),
    row({
      title: 'Result that loads a tool',
      note: 'A `tool_reference`; other dialects get it as text.',
      asked: { messages: exchange([{ id: 'call_1', output: LOADED }]).messages },
      arrives: {
        responses: (body) => textOf(body.input[2].output).includes('tides'),
        messages: (body) => body.messages[2].content[0].content[0].tool_name === 'tides',
        chat: (body) => textOf(body.messages[2].content).includes('tides'),
        gemini: (body) => says('tides')(body.contents[2].parts[0].functionResponse.response),
        bedrock: (body) => says('tides')(body.messages[2].content[0].toolResult.content),
      },
      verdicts: {
        messages: 'kept adapted adapted adapted adapted',
        responses: '-    -       -       -       -',
        chat: '-    -       -       -       -',
      },
    }),
    row({
      title: 'Any tool must be called',
      asked: choosing({
        responses: { tool_choice: 'required' },
        messages: { tool_choice: { type: 'any' } },
        chat: { tool_choice: 'required' },
      }),
      arrives: {
        responses: (body) => body.tool_choice === 'required',
        messages: (body) => body.tool_choice.type === 'any',
        chat: (body) => body.tool_choice === 'required',
        gemini: (body) => body.toolConfig.functionCallingConfig.mode === 'ANY',
        bedrock: (body) => body.toolConfig.toolChoice.any !== undefined,
      },
    }),
    row({
      title: 'One tool must be called',
      asked: choosing({
        responses: { tool_choice: { type: 'function', name: 'tides' } },
        messages: { tool_choice: { type: 'tool', name: 'tides' } },
        chat: { tool_choice: { type: 'function', function: { name: 'tides' } } },
      }),
      arrives: {
        responses: (body) => body.tool_choice.name === 'tides',
        messages: (body) => body.tool_choice.type === 'tool' && body.tool_choice.name === 'tides',
        chat: (body) => body.tool_choice.function.name === 'tides',
        gemini: ({ toolConfig: { functionCallingConfig: config } }) =>
          config.mode === 'ANY' && config.allowedFunctionNames.join() === 'tides',
        bedrock: (body) => body.toolConfig.toolChoice.tool.name === 'tides',
      },
    }),
    row({
      title: 'No tool may be called',
      asked: choosing({
        responses: { tool_choice: 'none' },
        messages: { tool_choice: { type: 'none' } },
        chat: { tool_choice: 'none' },
      }),
      arrives: {
        responses: (body) => body.tool_choice === 'none',
        messages: (body) => body.tool_choice.type === 'none',
        chat: (body) => body.tool_choice === 'none',
        gemini: (body) => body.toolConfig.functionCallingConfig.mode === 'NONE',
        bedrock: (body) => body.toolConfig === undefined,
      },
      verdicts: {
        messages: 'kept kept kept kept adapted',
        responses: 'kept kept kept kept adapted',
        chat: 'kept kept kept kept adapted',
      },
    }),
    row({
      title: 'Only some tools may be called',
      asked: choosing({
        responses: {
          tool_choice: {
            type: 'allowed_tools',
            mode: 'required',
            tools: [{ type: 'function', name: 'tides' }],
          },
        },
        chat: {
          tool_choice: {
            type: 'allowed_tools',
            allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'tides' } }] },
          },
        },
      }),
      arrives: {
        responses: (body) => body.tool_choice.mode === 'required' && says('tides')(body.tool_choice.tools),
        messages: (body) => body.tool_choice.type === 'any' && declared.messages?.(body) === 'tides',
        chat: (body) =>
          body.tool_choice.allowed_tools.mode === 'required' &&
          says('tides')(body.tool_choice.allowed_tools.tools),
        gemini: ({ toolConfig: { functionCallingConfig: config } }) =>
          config.mode === 'ANY' && config.allowedFunctionNames.join() === 'tides',
        bedrock: (body) =>
          body.toolConfig.toolChoice.any !== undefined && declared.bedrock?.(body) === 'tides',
      },
      verdicts: {
        messages: '-       -    -    -    -',
        responses: 'adapted kept kept kept adapted',
        chat: 'adapted kept kept kept adapted',
      },
    }),
    row({
      title: 'Groups of tools (`namespace`)',
      note: 'Flattened to functions called `group__name`; calls come back with their group.',
      asked: {
        responses: responses('Hello', {
          tools: [{ type: 'namespace', name: 'sky', description: 'About the sky.', tools: TOOLS.responses }],
        }),
      },
      arrives: {
        responses: (body) => body.tools[0].type === 'namespace' && body.tools[0].tools[0].name === 'weather',
        messages: (body) => declared.messages?.(body) === 'sky__weather,sky__tides',
        chat: (body) => declared.chat?.(body) === 'sky__weather,sky__tides',
        gemini: (body) => declared.gemini?.(body) === 'sky__weather,sky__tides',
        bedrock: (body) => declared.bedrock?.(body) === 'sky__weather,sky__tides',
      },
      verdicts: {
        messages: '-       -    -       -       -',
        responses: 'adapted kept adapted adapted adapted',
        chat: '-       -    -       -       -',
      },
    }),
    row({
      title: 'Free-text tools (`custom`)',
      note: 'Become functions with one string argument; calls come back as free text.',
      asked: {
        responses: responses('Hello', {
          tools: [{ type: 'custom', name: 'patch', description: CUSTOM_ABOUT }],
        }),
        chat: chat([user()], {
          tools: [{ type: 'custom', custom: { name: 'patch', description: CUSTOM_ABOUT } }],
        }),
      },
      arrives: {
        responses: (body) => body.tools[0].type === 'custom' && body.tools[0].name === 'patch',
        messages: (body) => body.tools[0].name === 'patch' && body.tools[0].input_schema.properties.input,
        chat: (body) => (body.tools[0].custom ?? body.tools[0].function).name === 'patch',
        gemini: (body) => body.tools[0].functionDeclarations[0].parametersJsonSchema.properties.input,
        bedrock: (body) => body.toolConfig.tools[0].toolSpec.inputSchema.json.properties.input,
      },
      verdicts: {
        messages: '-    -    -    -    -',
        responses: 'kept kept kept kept kept',
        chat: 'kept kept kept kept kept',
      },
    }),
    row({
      title: 'Grammar of a free-text tool',
      note: 'Becomes part of the description of the argument: the model sees it but is not bound by it.',
      asked: {
        responses: responses('Hello', { tools: [{ type: 'custom', name: 'patch', format: GRAMMAR }] }),
        chat: chat([user()], { tools: [{ type: 'custom', custom: { name: 'patch', format: GRAMMAR } }] }),
      },
      arrives: everywhere(says('a+b')),
      verdicts: {
        messages: '-       -    -       -       -',
        responses: 'adapted kept adapted adapted adapted',
        chat: 'adapted kept kept    adapted adapted',
      },
    }),
    row({
      title: 'Call of a free-text tool, and its result',
      asked: {
        responses: responses(
          [
            user(),
            { type: 'custom_tool_call', call_id: 'call_1', name: 'patch', input: '*** Begin' },
            { type: 'custom_tool_call_output', call_id: 'call_1', output: 'Done' },
          ],
          { tools: [{ type: 'custom', name: 'patch' }] },
        ),
        chat: chat(
          [
            user(),
            {
              role: 'assistant',
              content: null,
              tool_calls: [{ id: 'call_1', type: 'custom', custom: { name: 'patch', input: '*** Begin' } }],
            },
            { role: 'tool', tool_call_id: 'call_1', content: 'Done' },
          ],
          { tools: [{ type: 'custom', custom: { name: 'patch' } }] },
        ),
      },
      arrives: {
        responses: (body) => body.input[1].input === '*** Begin' && body.input[2].output === 'Done',
        messages: (body) => body.messages[1].content[0].input.input === '*** Begin',
        chat: (body) =>
          says('*** Begin')(body.messages[1].tool_calls[0]) && body.messages[2].content === 'Done',
        gemini: (body) => body.contents[1].parts[0].functionCall.args.input === '*** Begin',
        bedrock: (body) => body.messages[1].content[0].toolUse.input.input === '*** Begin',
      },
      verdicts: {
        messages: '-    -    -    -    -',
        responses: 'kept kept kept kept kept',
        chat: 'kept kept kept kept kept',
      },
    }),
    row({
      title: 'Tools that the provider runs (`web_search`)',
      note: 'Dropped if the upstream runs no such tool: agents always send them.',
      asked: {
        responses: responses('Hello', { tools: [...(TOOLS.responses ?? []), { type: 'web_search' }] }),
        messages: messages([user()], {
          tools: [...(TOOLS.messages ?? []), { type: 'web_search_20250305', name: 'web_search' }],
        }),
        chat: chat([user()], { tools: [...(TOOLS.chat ?? []), { type: 'web_search' }] }),
      },
      arrives: everywhere(says('web_search')),
      verdicts: {
        messages: 'kept    dropped dropped dropped dropped',
        responses: 'dropped kept    dropped dropped dropped',
        chat: 'dropped dropped kept    dropped dropped',
      },
    }),
  ],
};
