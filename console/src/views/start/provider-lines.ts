import { useQuery } from '@tanstack/preact-query';
import { partMeta } from '../../api/part.ts';
import { ask } from '../../api/request.ts';

/** Providers that most begin with, and the variable that switches each on. */
export const PROVIDERS = [
  { slug: 'anthropic', name: 'Anthropic', variable: 'ANTHROPIC_API_KEY' },
  { slug: 'openai', name: 'OpenAI', variable: 'OPENAI_API_KEY' },
  { slug: 'google-ai-studio', name: 'Google AI Studio', variable: 'GEMINI_API_KEY' },
  { slug: 'amazon-bedrock', name: 'Amazon Bedrock', variable: 'AWS_BEARER_TOKEN_BEDROCK' },
  { slug: 'groq', name: 'Groq', variable: 'GROQ_API_KEY' },
] as const;

/** A provider, and how many models it serves here. */
export interface ProviderLine {
  readonly slug: string;
  readonly name: string;
  readonly models: number;
}

const SIMULATOR = { slug: 'simulator', name: 'simulator' };

/** Which providers serve now. Asked for once, and again when the reader looks again or comes back to the page. */
export function useProviderLines(): readonly ProviderLine[] {
  const { data } = useQuery({
    queryKey: ['start-lines'],
    meta: partMeta('Which providers serve'),
    queryFn: () =>
      Promise.all(
        [SIMULATOR, ...PROVIDERS].map(async ({ slug, name }): Promise<ProviderLine> => {
          const { total_count: models } = await ask<{ total_count: number }>('/models', {
            query: { providers: slug, limit: 1 },
          });
          return { slug, name, models };
        }),
      ),
  });
  return data ?? [];
}
