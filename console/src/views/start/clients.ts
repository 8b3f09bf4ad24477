import type { ServedAt } from '../../api/served-at.ts';

/** How a client is pointed at this gateway. */
export interface Client {
  readonly title: string;
  readonly code: (at: ServedAt, model: string) => string;
}

export const CLIENTS: readonly Client[] = [
  {
    title: 'Claude Code',
    code: (at, model) =>
      [
        `export ANTHROPIC_BASE_URL=${at.anthropic}`,
        'export ANTHROPIC_AUTH_TOKEN=$SIGNALBOX_KEY',
        `export ANTHROPIC_MODEL=${model}`,
        `export ANTHROPIC_DEFAULT_HAIKU_MODEL=${model}`,
        'claude',
      ].join('\n'),
  },
  {
    title: 'Codex',
    code: (at, model) =>
      [
        '# ~/.codex/config.toml',
        `model = "${model}"`,
        'model_provider = "signalbox"',
        '',
        '[model_providers.signalbox]',
        'name = "Signalbox"',
        `base_url = "${at.base}"`,
        'env_key = "SIGNALBOX_KEY"',
        'wire_api = "responses"',
      ].join('\n'),
  },
  {
    title: 'openai',
    code: (at, model) =>
      [
        `import OpenAI from 'openai';`,
        `const client = new OpenAI({ baseURL: '${at.base}', apiKey: process.env.SIGNALBOX_KEY });`,
        `const response = await client.responses.create({ model: '${model}', input: 'Hello' });`,
      ].join('\n'),
  },
  {
    title: '@anthropic-ai/sdk',
    code: (at, model) =>
      [
        `import Anthropic from '@anthropic-ai/sdk';`,
        `const client = new Anthropic({ baseURL: '${at.anthropic}', apiKey: process.env.SIGNALBOX_KEY });`,
        'const message = await client.messages.create({',
        `  model: '${model}', max_tokens: 1024, messages: [{ role: 'user', content: 'Hello' }],`,
        '});',
      ].join('\n'),
  },
  {
    title: 'Vercel ai',
    code: (at, model) =>
      [
        `import { createOpenAI } from '@ai-sdk/openai';`,
        `import { generateText } from 'ai';`,
        `const openai = createOpenAI({ baseURL: '${at.base}', apiKey: process.env.SIGNALBOX_KEY });`,
        `const { text } = await generateText({ model: openai('${model}'), prompt: 'Hello' });`,
      ].join('\n'),
  },
];
