import type { DialectWord } from './entries.ts';

/** What is public knowledge about a provider: enough that a configuration only has to name it and give a key. */
export interface ProviderRow {
  readonly name: string;
  readonly dialect: DialectWord;
  readonly base_url: string;
}

/** Providers known by name. A provider that speaks a known dialect is one row here. */
export const PROVIDER_TABLE: Readonly<Record<string, ProviderRow>> = {
  anthropic: { name: 'Anthropic', dialect: 'anthropic-messages', base_url: 'https://api.anthropic.com/v1' },
  cerebras: { name: 'Cerebras', dialect: 'openai-chat', base_url: 'https://api.cerebras.ai/v1' },
  deepseek: { name: 'DeepSeek', dialect: 'openai-chat', base_url: 'https://api.deepseek.com/v1' },
  fireworks: { name: 'Fireworks', dialect: 'openai-chat', base_url: 'https://api.fireworks.ai/inference/v1' },
  groq: { name: 'Groq', dialect: 'openai-chat', base_url: 'https://api.groq.com/openai/v1' },
  mistral: { name: 'Mistral', dialect: 'openai-chat', base_url: 'https://api.mistral.ai/v1' },
  ollama: { name: 'Ollama', dialect: 'openai-chat', base_url: 'http://127.0.0.1:11434/v1' },
  openai: { name: 'OpenAI', dialect: 'openai-responses', base_url: 'https://api.openai.com/v1' },
  together: { name: 'Together', dialect: 'openai-chat', base_url: 'https://api.together.xyz/v1' },
  xai: { name: 'xAI', dialect: 'openai-chat', base_url: 'https://api.x.ai/v1' },
};
