import type { JsonObject } from '../../src/kit/json/json.ts';

/** The three formats; each has a simulator that speaks it as an upstream. */
export const UPSTREAMS = ['responses', 'messages', 'chat'] as const;

const BEHAVIOURS = [
  'standard',
  'reasoning',
  'tools',
  'refuse',
  'image',
  'slow',
  'slow-stream',
  'cut',
  'fail-429',
  'fail-500',
  'fail-529',
];

/**
 * A configuration in which `<format>/<behaviour>` is a simulated model behind an upstream of that format: asking for
 * `chat/standard` through the messages format runs the whole translation.
 */
export const SIMULATED_UPSTREAMS: JsonObject = {
  providers: UPSTREAMS.map((format) => ({
    slug: `sim-${format}`,
    name: `Simulated ${format}`,
    dialect: 'simulator',
    base_url: `simulator://${format}`,
  })),
  models: UPSTREAMS.flatMap((format) =>
    BEHAVIOURS.map((behaviour) => ({
      id: `${format}/${behaviour}`,
      input_modalities: ['text', 'image', 'file'],
      output_modalities: ['text', 'image'],
      max_output_tokens: 4096,
      endpoints: [
        {
          provider: `sim-${format}`,
          model: behaviour,
          pricing: { prompt: '0.000001', completion: '0.000002' },
        },
      ],
    })),
  ),
};
