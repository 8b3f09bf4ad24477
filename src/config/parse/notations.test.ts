// biome-ignore-all lint/suspicious/noTemplateCurlyInString: configuration files name variables this way.
import { describe, expect, it } from 'vitest';
import { KNOWN_PROVIDERS } from '../../catalog/providers/known-providers.ts';
import { shownPrices } from '../shown-prices.ts';
import { parseConfig } from './parse-config.ts';

function read(text: string, environment = {}) {
  const reading = parseConfig(text, environment, KNOWN_PROVIDERS);
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  return reading.config;
}

const endpoint = (members: string) => `models: [{ id: a/b, endpoints: [{ provider: openai, ${members} }] }]`;

const pricingOf = (members: string) => read(endpoint(members)).models[0]?.endpoints[0]?.pricing;

describe('other notations', () => {
  it('have units at every key with a unit in its name', () => {
    const config = read(
      `server: { max_body_bytes: 16MiB, request_deadline_ms: 10m }
providers: [{ slug: openai, timeouts_ms: { connect: 5s, total: 1h } }]
routing: { sticky_idle_ms: 90s, cooldown: { base_ms: 500ms, max_ms: "\${MOST}" } }
retention: { events_days: 400d, content_bytes: 1GB, output_items_bytes: 0 }
drain_ms: 1.5s`,
      { MOST: '5m' },
    );
    expect(config).toMatchObject({
      server: { max_body_bytes: 16_777_216, request_deadline_ms: 600_000 },
      providers: [{ timeouts_ms: { connect: 5000, first_byte: 120_000, total: 3_600_000 } }],
      routing: { sticky_idle_ms: 90_000, cooldown: { base_ms: 500, max_ms: 300_000 } },
      retention: { events_days: 400, content_bytes: 1_000_000_000, output_items_bytes: 0 },
      drain_ms: 1500,
    });
  });

  it('have prices per million, also dated ones and those of long prompts', () => {
    expect(
      pricingOf('pricing: { prompt_per_million: 1.25, completion_per_million: "10", request: "0.5" }'),
    ).toEqual({
      prompt: '0.00000125',
      completion: '0.00001',
      request: '0.5',
    });
    expect(
      pricingOf('pricing: { web_search_per_million: 10000, input_cache_read_per_million: 0.0000001 }'),
    ).toEqual({
      web_search: '0.01',
      input_cache_read: '0.0000000000001',
    });
    const dated =
      'prices: [{ from: 2026-01-01, pricing: { overrides: [{ min_prompt_tokens: 9, prompt_per_million: 2 }] } }]';
    expect(read(endpoint(dated)).models[0]?.endpoints[0]?.prices).toEqual([
      { from: '2026-01-01', pricing: { overrides: [{ min_prompt_tokens: 9, prompt: '0.000002' }] } },
    ]);
  });

  it.each(['-1', 'x', '"1e3"', '1000000001', '0.0000000000001', '[]'])('refuse %s as a price', (price) => {
    expect(() => pricingOf(`pricing: { prompt_per_million: ${price} }`)).toThrow(
      /pricing\.prompt_per_million/,
    );
  });

  it('show prices of tokens per million, which read back as the same', () => {
    const config = read(endpoint('pricing: { prompt: "0.00000125", completion: "0.00001", image: "0.01" }'));
    const shown = shownPrices(config);
    expect(shown).toMatchObject({
      models: [
        { endpoints: [{ pricing: { prompt_per_million: 1.25, completion_per_million: 10, image: '0.01' } }] },
      ],
    });
    expect(read(JSON.stringify(shown)).models).toEqual(config.models);
  });
});
