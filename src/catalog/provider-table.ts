import type { DialectWord } from './entries.ts';

/** What is public knowledge about a provider: enough that a configuration only has to name it and give a key. */
export interface ProviderRow {
  readonly name: string;
  readonly dialect: DialectWord;
  readonly base_url: string;
  /** Environment variable in which people keep their key. */
  readonly key_variable?: string;
}

/** Providers known by name. A provider that speaks a known dialect is one row here. */
export const PROVIDER_TABLE: Readonly<Record<string, ProviderRow>> = {
  anthropic: {
    name: 'Anthropic',
    dialect: 'anthropic-messages',
    base_url: 'https://api.anthropic.com/v1',
    key_variable: 'ANTHROPIC_API_KEY',
  },
  cerebras: {
    name: 'Cerebras',
    dialect: 'openai-chat',
    base_url: 'https://api.cerebras.ai/v1',
    key_variable: 'CEREBRAS_API_KEY',
  },
  deepseek: {
    name: 'DeepSeek',
    dialect: 'openai-chat',
    base_url: 'https://api.deepseek.com/v1',
    key_variable: 'DEEPSEEK_API_KEY',
  },
  fireworks: {
    name: 'Fireworks',
    dialect: 'openai-chat',
    base_url: 'https://api.fireworks.ai/inference/v1',
    key_variable: 'FIREWORKS_API_KEY',
  },
  groq: {
    name: 'Groq',
    dialect: 'openai-chat',
    base_url: 'https://api.groq.com/openai/v1',
    key_variable: 'GROQ_API_KEY',
  },
  mistral: {
    name: 'Mistral',
    dialect: 'openai-chat',
    base_url: 'https://api.mistral.ai/v1',
    key_variable: 'MISTRAL_API_KEY',
  },
  ollama: { name: 'Ollama', dialect: 'openai-chat', base_url: 'http://127.0.0.1:11434/v1' },
  openai: {
    name: 'OpenAI',
    dialect: 'openai-responses',
    base_url: 'https://api.openai.com/v1',
    key_variable: 'OPENAI_API_KEY',
  },
  together: {
    name: 'Together',
    dialect: 'openai-chat',
    base_url: 'https://api.together.xyz/v1',
    key_variable: 'TOGETHER_API_KEY',
  },
  xai: { name: 'xAI', dialect: 'openai-chat', base_url: 'https://api.x.ai/v1', key_variable: 'XAI_API_KEY' },
};
