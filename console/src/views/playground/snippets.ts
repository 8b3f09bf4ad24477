import { curlOf } from '../../api/curl.ts';
import type { ServedAt } from '../../api/served-at.ts';
import type { Draft, FormatName, Turn } from './conversation.ts';
import { formatNamed } from './formats.ts';

/** A request as a program sends it. */
export interface Snippet {
  readonly name: string;
  readonly title: string;
  readonly code: (format: FormatName, draft: Draft, at: ServedAt) => string;
}

/** The name of the environment variable with the key: the console does not have the key itself. */
const KEY = 'SIGNALBOX_KEY';

export const SNIPPETS: readonly Snippet[] = [
  { name: 'curl', title: 'curl', code: curl },
  { name: 'python', title: 'Python', code: python },
  { name: 'typescript', title: 'TypeScript', code: typescript },
  { name: 'ai', title: 'Vercel ai', code: vercel },
];

/** Each client adds its own part of the address. */
const BASES: Readonly<Record<FormatName, keyof ServedAt>> = {
  responses: 'base',
  chat: 'base',
  messages: 'anthropic',
};

function curl(format: FormatName, draft: Draft, at: ServedAt): string {
  const { path, body } = formatNamed(format);
  return curlOf({ method: 'POST', path, body: body(draft) }, at.base, KEY).replace('curl ', 'curl -N ');
}

function python(format: FormatName, draft: Draft, at: ServedAt): string {
  const body = formatNamed(format).body(draft);
  const base = JSON.stringify(at[BASES[format]]);
  const [module, name, method] = PYTHON[format];
  const { known, extra } = splitBody(format, body);
  const lines = Object.entries(known).map(([key, value]) => `    ${key}=${pythonValue(value, 1)},`);
  if (Object.keys(extra).length > 0) lines.push(`    extra_body=${pythonValue(extra, 1)},`);
  return [
    'import os',
    `from ${module} import ${name}`,
    '',
    `client = ${name}(base_url=${base}, api_key=os.environ["${KEY}"])`,
    `stream = client.${method}(`,
    ...lines,
    ')',
    'for event in stream:',
    ...PYTHON_PRINTS[format],
  ].join('\n');
}

const PYTHON: Readonly<Record<FormatName, readonly [module: string, name: string, method: string]>> = {
  responses: ['openai', 'OpenAI', 'responses.create'],
  chat: ['openai', 'OpenAI', 'chat.completions.create'],
  messages: ['anthropic', 'Anthropic', 'messages.create'],
};

const PYTHON_PRINTS: Readonly<Record<FormatName, readonly string[]>> = {
  responses: [
    '    if event.type == "response.output_text.delta":',
    '        print(event.delta, end="", flush=True)',
  ],
  chat: ['    if event.choices:', '        print(event.choices[0].delta.content or "", end="", flush=True)'],
  messages: [
    '    if event.type == "content_block_delta" and event.delta.type == "text_delta":',
    '        print(event.delta.text, end="", flush=True)',
  ],
};

/** Members that the clients do not know go into `extra_body`. */
const EXTRA: Readonly<Record<FormatName, readonly string[]>> = {
  responses: ['provider'],
  chat: ['provider', 'reasoning'],
  messages: ['provider'],
};

function splitBody(format: FormatName, body: Readonly<Record<string, unknown>>) {
  const isExtra = ([name]: [string, unknown]): boolean => EXTRA[format].includes(name);
  const entries = Object.entries(body);
  return {
    known: Object.fromEntries(entries.filter((entry) => !isExtra(entry))),
    extra: Object.fromEntries(entries.filter(isExtra)),
  };
}

/** A JSON value as Python writes it. */
export function pythonValue(value: unknown, depth: number): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const pad = '    '.repeat(depth + 1);
  const end = '    '.repeat(depth);
  const parts = Array.isArray(value)
    ? value.map((entry) => pythonValue(entry, depth + 1))
    : Object.entries(value).map(
        ([name, entry]) => `${JSON.stringify(name)}: ${pythonValue(entry, depth + 1)}`,
      );
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  if (parts.length === 0) return `${open}${close}`;
  return `${open}\n${parts.map((part) => `${pad}${part},\n`).join('')}${end}${close}`;
}

function typescript(format: FormatName, draft: Draft, at: ServedAt): string {
  const [module, name, method] = TYPESCRIPT[format];
  return [
    `import ${name} from '${module}';`,
    '',
    `const client = new ${name}({ baseURL: '${at[BASES[format]]}', apiKey: process.env.${KEY} });`,
    `const request = ${json(formatNamed(format).body(draft))} as const;`,
    // The client's types do not know members of the gateway, such as `provider`.
    `const stream = await client.${method}(request as never);`,
    'for await (const event of stream as AsyncIterable<any>) {',
    TYPESCRIPT_PRINTS[format],
    '}',
  ].join('\n');
}

const TYPESCRIPT: typeof PYTHON = {
  responses: ['openai', 'OpenAI', 'responses.create'],
  chat: ['openai', 'OpenAI', 'chat.completions.create'],
  messages: ['@anthropic-ai/sdk', 'Anthropic', 'messages.create'],
};

const TYPESCRIPT_PRINTS: Readonly<Record<FormatName, string>> = {
  responses: `  if (event.type === 'response.output_text.delta') process.stdout.write(event.delta);`,
  chat: `  process.stdout.write(event.choices[0]?.delta.content ?? '');`,
  messages: `  if (event.delta?.type === 'text_delta') process.stdout.write(event.delta.text);`,
};

/** The package `ai` has its own terms, so its request is made from the conversation rather than from the body. */
function vercel(format: FormatName, draft: Draft, at: ServedAt): string {
  const { model, system, turns, tools, settings } = draft;
  const [module, make, call] = VERCEL[format];
  const options = [
    `  model: ${call}('${model}'),`,
    ...(system === '' ? [] : [`  system: ${JSON.stringify(system)},`]),
    `  messages: ${indented(json(turns.map(vercelMessage)))},`,
    ...(tools.length === 0 ? [] : ['  tools: {', ...tools.map(vercelTool), '  },']),
    ...(settings.maxTokens === undefined ? [] : [`  maxOutputTokens: ${settings.maxTokens},`]),
    ...(settings.temperature === undefined ? [] : [`  temperature: ${settings.temperature},`]),
    ...(settings.topP === undefined ? [] : [`  topP: ${settings.topP},`]),
    ...(settings.effort === undefined
      ? []
      : [`  providerOptions: ${VERCEL_EFFORT[format](settings.effort)},`]),
  ];
  return [
    `import { ${make} } from '${module}';`,
    `import { ${tools.length === 0 ? '' : 'jsonSchema, '}streamText${tools.length === 0 ? '' : ', tool'} } from 'ai';`,
    '',
    `const provider = ${make}({ baseURL: '${at.base}', apiKey: process.env.${KEY} });`,
    'const { textStream } = streamText({',
    ...options,
    '});',
    'for await (const text of textStream) process.stdout.write(text);',
  ].join('\n');
}

const VERCEL: Readonly<Record<FormatName, readonly [module: string, make: string, call: string]>> = {
  responses: ['@ai-sdk/openai', 'createOpenAI', 'provider.responses'],
  chat: ['@ai-sdk/openai', 'createOpenAI', 'provider.chat'],
  messages: ['@ai-sdk/anthropic', 'createAnthropic', 'provider'],
};

const VERCEL_EFFORT: Readonly<Record<FormatName, (effort: string) => string>> = {
  responses: (effort) => `{ openai: { reasoningEffort: '${effort}' } }`,
  chat: (effort) => `{ openai: { reasoningEffort: '${effort}' } }`,
  messages: (effort) => `{ anthropic: { effort: '${effort}' } }`,
};

function vercelMessage(turn: Turn): unknown {
  if (turn.role === 'user') {
    if (turn.pictures.length === 0) return { role: 'user', content: turn.text };
    const pictures = turn.pictures.map(({ url }) => ({ type: 'image', image: url }));
    return { role: 'user', content: [{ type: 'text', text: turn.text }, ...pictures] };
  }
  if (turn.role === 'tool') {
    const output = { type: 'text', value: turn.text };
    return {
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId: turn.callId, toolName: turn.name, output }],
    };
  }
  const calls = turn.calls.map(({ id, name, arguments: text }) => ({
    type: 'tool-call',
    toolCallId: id,
    toolName: name,
    input: parsed(text),
  }));
  return {
    role: 'assistant',
    content: [...(turn.text === '' ? [] : [{ type: 'text', text: turn.text }]), ...calls],
  };
}

function vercelTool({ name, description, parameters }: Draft['tools'][number]): string {
  const about = description === undefined ? '' : ` description: ${JSON.stringify(description)},`;
  return `    ${JSON.stringify(name)}: tool({${about} inputSchema: jsonSchema(${JSON.stringify(parameters)}) }),`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

function json(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

function indented(text: string): string {
  return text.replaceAll('\n', '\n  ');
}
