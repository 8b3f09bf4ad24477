import { describe, expect, it } from 'vitest';
import { PROVIDER_TABLE } from './provider-table.ts';

/** Slugs that clients may name in `provider` fields. */
const SLUGS = `
  ai21 aion-labs akashml alibaba amazon-bedrock amazon-nova ambient anthropic arcee-ai atlas-cloud avian azure baidu
  baseten black-forest-labs byteplus cerebras chutes cirrascale clarifai cloudflare cohere coreweave crusoe darkbloom
  databricks decart deepgram deepinfra deepseek dekallm digitalocean featherless fireworks fish-audio friendli gmicloud
  google-ai-studio google-vertex groq heygen inception inceptron inferact-vllm inference-net infermatic inflection io-net
  ionstream krea liquid makora mancer mara meta minimax mistral modal modelrun modular moonshotai morph ncompass nebius
  nex-agi nextbit novita nvidia ollama open-inference openai parasail perceptron perplexity phala poolside quiver recraft
  reka relace runway sail-research sakana sakana-ai sambanova seed siliconflow sourceful stepfun streamlake switchpoint
  tencent tenstorrent thinkingmachines together upstage venice wafer wandb wandb-legacy xai xiaomi z-ai
`
  .trim()
  .split(/\s+/);

const rows = Object.entries(PROVIDER_TABLE);

describe('the provider table', () => {
  it('has every slug, in order', () => {
    expect(Object.keys(PROVIDER_TABLE)).toEqual(SLUGS);
  });

  it('has addresses that can be called', () => {
    for (const [slug, { base_url: address, dialect }] of rows) {
      if (address === undefined) continue;
      expect(dialect, slug).toBeDefined();
      const { protocol, hostname, pathname, search } = new URL(address);
      expect(protocol, slug).toBe(hostname === '127.0.0.1' ? 'http:' : 'https:');
      expect(search, slug).toBe('');
      expect(address.endsWith('/') && pathname !== '/', slug).toBe(false);
    }
  });

  it('has no address twice', () => {
    const addresses = rows.flatMap(([, { base_url: address }]) => address ?? []);
    expect(new Set(addresses).size).toBe(addresses.length);
  });

  it('names each variable for one provider only', () => {
    const names = rows.flatMap(([, { keys = [] }]) => [
      ...new Set(keys.flatMap((source) => (typeof source === 'string' ? [source] : Object.values(source)))),
    ]);
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
    for (const name of names) expect(name).toMatch(/^[A-Z][A-Z0-9_]+$/);
  });

  it('has no keys and quirks for providers without a dialect', () => {
    for (const [slug, row] of rows) {
      if (row.dialect !== undefined) continue;
      expect(
        Object.keys(row).filter((member) => member !== 'name' && member !== 'facts'),
        slug,
      ).toEqual([]);
    }
  });

  it('has facts that are addresses and country codes', () => {
    for (const [slug, { facts = {} }] of rows) {
      const { headquarters, ...addresses } = facts;
      if (headquarters !== undefined) expect(headquarters, slug).toMatch(/^[A-Z]{2}$/);
      for (const address of Object.values(addresses)) expect(new URL(address).protocol, slug).toBe('https:');
    }
  });
});
