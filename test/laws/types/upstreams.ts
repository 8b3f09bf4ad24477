import type { DialectName } from '../../../src/ir/items.ts';

/** Where requests are sent. */
export interface Upstream {
  /** The name of its column. */
  readonly name: string;
  readonly dialect: DialectName;
  /** Its slug: that of the built-in table decides what the provider does otherwise than its dialect. */
  readonly provider: string;
  readonly model: string;
}

/** Models that take everything that their dialect can say. */
const MODELS: Readonly<Record<DialectName, string>> = {
  messages: 'claude-large',
  responses: 'gpt-large',
  chat: 'large',
  gemini: 'gemini-3-flash',
  bedrock: 'anthropic.claude-large-v1:0',
};

/** The owners of the dialects; chat is spoken as its owner publishes it, by a server of no name. */
export const OWNERS: readonly Upstream[] = [
  upstream('Anthropic', 'messages', 'anthropic'),
  upstream('OpenAI', 'responses', 'openai'),
  upstream('Chat', 'chat', 'chat-server'),
  upstream('Gemini', 'gemini', 'google-ai-studio'),
  upstream('Bedrock', 'bedrock', 'amazon-bedrock'),
];

/**
 * Providers and servers to which requests go otherwise than to the owner of their dialect: one for each set of
 * differences that shows in what the published types allow.
 */
export const OTHERS: readonly Upstream[] = [
  upstream('a server of no name', 'messages', 'messages-server'),
  upstream('xAI', 'responses', 'xai'),
  ...[
    ['Alibaba', 'alibaba'],
    ['Azure', 'azure'],
    ['Cerebras', 'cerebras'],
    ['DeepSeek', 'deepseek'],
    ['Groq', 'groq'],
    ['Mistral', 'mistral'],
    ['Z.AI', 'z-ai'],
  ].map(([name = '', slug = '']) => upstream(name, 'chat', slug)),
];

function upstream(name: string, dialect: DialectName, provider: string): Upstream {
  return { name, dialect, provider, model: MODELS[dialect] };
}
