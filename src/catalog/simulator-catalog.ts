import type { ModelEntry, ProviderEntry } from './entries.ts';
import { EMBEDDING_PARAMETER_NAMES } from './parameter-names.ts';

/**
 * The built-in simulator and its models, in the notation of the configuration. With it a first start is useful and apps
 * can be tested for free. Prices are invented, and not zero so that billing can be tried.
 */

/** Without a format in its address it answers in the caller's. */
export const SIMULATOR_PROVIDER = {
  slug: 'simulator',
  name: 'Simulator',
  dialect: 'simulator',
  base_url: 'simulator://local',
} as const satisfies ProviderEntry;

const SUPPORTED_PARAMETERS = [
  'temperature',
  'top_p',
  'top_k',
  'frequency_penalty',
  'presence_penalty',
  'seed',
  'stop',
  'max_tokens',
  'response_format',
  'structured_outputs',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'reasoning',
  'include_reasoning',
  'verbosity',
] as const;

const PRICING = {
  prompt: '0.000001',
  completion: '0.000004',
  input_cache_read: '0.0000001',
  input_cache_write: '0.00000125',
} as const;

const EMBEDDING_PRICING = { prompt: '0.0000001', completion: '0' } as const;

/** The models; `name` is also the upstream model, `quality` is used by routers. */
const ROWS: readonly {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly quality: { readonly general?: number; readonly coding?: number };
  readonly output?: readonly string[];
}[] = [
  {
    name: 'standard',
    title: 'Standard',
    description: 'Answers with a short text, tool calls or structured output, as the request asks.',
    quality: { general: 0.6, coding: 0.5 },
  },
  {
    name: 'reasoning',
    title: 'Reasoning',
    description: 'Thinks aloud, sealed, before each answer.',
    quality: { general: 0.8, coding: 0.75 },
  },
  {
    name: 'tools',
    title: 'Tools',
    description: 'Calls the first tool it is offered, then answers with the result.',
    quality: { general: 0.5, coding: 0.6 },
  },
  {
    name: 'image',
    title: 'Image',
    description: 'Answers with a small picture.',
    quality: { general: 0.3, coding: 0.1 },
    output: ['text', 'image'],
  },
  {
    name: 'embedding',
    title: 'Embedding',
    description: 'Gives each text a vector; texts with words in common are near each other.',
    quality: {},
    output: ['embeddings'],
  },
  failing('refuse', 'Refuse', 'Declines every request.'),
  failing('slow', 'Slow', 'Takes three seconds to begin.'),
  failing('slow-stream', 'Slow stream', 'Begins at once and writes five words a second.'),
  failing('cut', 'Cut', 'Breaks off in the middle of the answer.'),
  failing('fail-429', 'Fail 429', 'Fails with a rate limit that asks for seven seconds.'),
  failing('fail-500', 'Fail 500', 'Fails with a server error.'),
  failing('fail-529', 'Fail 529', 'Fails because it is overloaded.'),
];

function failing(name: string, title: string, description: string) {
  return { name, title, description, quality: { general: 0.1, coding: 0.1 } };
}

export const SIMULATOR_MODELS: readonly ModelEntry[] = ROWS.map((row) => {
  const isOfVectors = row.output?.includes('embeddings') === true;
  return {
    id: `simulator/${row.name}`,
    name: `Simulator ${row.title}`,
    description: `Simulated, no model is asked. ${row.description}`,
    context_length: 128_000,
    ...(!isOfVectors && { max_output_tokens: 16_000 }),
    input_modalities: isOfVectors ? ['text'] : ['text', 'image', 'file', 'audio', 'video'],
    output_modalities: row.output ?? ['text'],
    quality: row.quality,
    distillable: true,
    endpoints: [
      {
        provider: SIMULATOR_PROVIDER.slug,
        model: row.name,
        tag: SIMULATOR_PROVIDER.slug,
        // Each answer is made in one step, which must stay short.
        ...(isOfVectors && { max_inputs: 64 }),
        supported_parameters: [...(isOfVectors ? EMBEDDING_PARAMETER_NAMES : SUPPORTED_PARAMETERS)],
        pricing: isOfVectors ? EMBEDDING_PRICING : PRICING,
      },
    ],
  };
});
