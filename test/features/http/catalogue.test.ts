import Anthropic from '@anthropic-ai/sdk';
import { Compile } from 'typebox/compile';
import { afterEach, describe, expect, it } from 'vitest';
import { endpointListSchema } from '../../../src/contract/catalog/endpoint.ts';
import { modelListSchema, modelReplySchema } from '../../../src/contract/catalog/model.ts';
import { providerListSchema } from '../../../src/contract/catalog/provider.ts';
import { ask, startServer, stopServers } from '../../kit/http-harness.ts';

afterEach(stopServers);

async function idsOf(query: string): Promise<string[]> {
  const { port } = await startServer();
  const { status, json } = await ask(port, { path: `/api/v1/models${query}` });
  expect([query, status]).toEqual([query, 200]);
  return json.data.map(({ id }: { id: string }) => id);
}

describe('GET /models', () => {
  it('shows every field of every client generation', async () => {
    const { port } = await startServer();
    const { json } = await ask(port, { path: '/api/v1/models' });
    expect(Compile(modelListSchema).Check(json)).toBe(true);
    expect(json.links).toEqual({ next: null });
    expect(json.total_count).toBe(2);
    expect(json.data[0]).toEqual({
      id: 'acme/large',
      object: 'model',
      type: 'model',
      canonical_slug: 'acme/large',
      name: 'Name of acme/large',
      display_name: 'Name of acme/large',
      owned_by: 'acme',
      description: 'What acme/large is for',
      created: expect.any(Number),
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      architecture: {
        modality: 'text+image->text',
        input_modalities: ['text', 'image'],
        output_modalities: ['text'],
        tokenizer: 'Other',
        instruct_type: null,
      },
      context_length: 100_000,
      max_input_tokens: 100_000,
      max_tokens: 1000,
      pricing: { prompt: '0.000001', completion: '0.000004', discount: 0.25 },
      top_provider: { is_moderated: false, context_length: 100_000, max_completion_tokens: 1000 },
      per_request_limits: null,
      supported_parameters: ['temperature', 'tools', 'zeta'],
      supported_voices: null,
      default_parameters: null,
      hugging_face_id: null,
      knowledge_cutoff: null,
      expiration_date: null,
      links: { details: '/api/v1/models/acme/large/endpoints' },
    });
    expect(JSON.stringify(json)).not.toMatch(/upstream/);
  });

  it.each([
    ['', ['acme/large', 'bolt/small']],
    ['?output_modalities=all', ['acme/large', 'acme/painter', 'bolt/small']],
    ['?output_modalities=image', ['acme/painter']],
    ['?output_modalities=image,text', ['acme/large', 'acme/painter', 'bolt/small']],
    ['?input_modalities=text,image', ['acme/large']],
    ['?q=BOLT', ['bolt/small']],
    ['?q=nothing', []],
    ['?supported_parameters=tools,zeta', ['acme/large']],
    ['?supported_parameters=seed', ['bolt/small']],
    ['?context=8001', ['acme/large']],
    ['?context=8000', ['acme/large', 'bolt/small']],
    ['?max_price=0.1', ['bolt/small']],
    ['?min_price=1', ['acme/large']],
    ['?min_output_price=0.41', ['acme/large']],
    ['?max_output_price=0.4', ['bolt/small']],
    ['?model_authors=bolt', ['bolt/small']],
    ['?providers=Acme', ['acme/large']],
    ['?providers=acme&providers=bolt', ['acme/large', 'bolt/small']],
    ['?distillable=true', ['acme/large']],
    ['?distillable=false', ['bolt/small']],
    ['?zdr=true', ['acme/large']],
    ['?max_age_days=30', ['acme/large']],
    ['?min_age_days=30', ['bolt/small']],
    ['?sort=pricing-low-to-high', ['bolt/small', 'acme/large']],
    ['?sort=pricing-high-to-low', ['acme/large', 'bolt/small']],
    ['?sort=newest&output_modalities=all', ['acme/large', 'bolt/small', 'acme/painter']],
    ['?sort=context-high-to-low', ['acme/large', 'bolt/small']],
  ] as const)('filters by %s', async (query, ids) => {
    expect(await idsOf(query)).toEqual(ids);
  });

  it('pages', async () => {
    const { port } = await startServer();
    const first = await ask(port, { path: '/v1/models?output_modalities=all&limit=2' });
    expect(first.json.data).toHaveLength(2);
    expect(first.json.total_count).toBe(3);
    expect(first.json.links.next).toBe('/api/v1/models?output_modalities=all&limit=2&offset=2');
    const second = await ask(port, { path: first.json.links.next });
    expect(second.json.data.map(({ id }: { id: string }) => id)).toEqual(['bolt/small']);
    expect(second.json.links.next).toBeNull();
    expect((await ask(port, { path: '/v1/models?offset=99' })).json.data).toEqual([]);
  });

  it('pages by ids, forwards and backwards', async () => {
    const { port } = await startServer();
    const pageOf = async (query: string) => {
      const { json } = await ask(port, { path: `/api/v1/models?output_modalities=all&${query}` });
      expect(Compile(modelListSchema).Check(json)).toBe(true);
      const ids = json.data.map(({ id }: { id: string }) => id);
      return [ids, json.has_more, json.first_id, json.last_id, json.links.next];
    };
    const next = '/api/v1/models?output_modalities=all&limit=1&offset=2';
    expect(await pageOf('limit=1&after_id=acme/large')).toEqual([
      ['acme/painter'],
      true,
      'acme/painter',
      'acme/painter',
      next,
    ]);
    expect(await pageOf('after_id=acme/large')).toEqual([
      ['acme/painter', 'bolt/small'],
      false,
      'acme/painter',
      'bolt/small',
      null,
    ]);
    expect(await pageOf('after_id=bolt/small')).toEqual([[], false, null, null, null]);
    expect(await pageOf('limit=1&before_id=bolt/small')).toEqual([
      ['acme/painter'],
      true,
      'acme/painter',
      'acme/painter',
      next,
    ]);
    expect((await pageOf('before_id=bolt/small')).slice(0, 2)).toEqual([
      ['acme/large', 'acme/painter'],
      false,
    ]);
  });

  it('is read page by page by the Anthropic client', async () => {
    const { port } = await startServer();
    const client = new Anthropic({ apiKey: 'any', baseURL: `http://127.0.0.1:${port}/api`, maxRetries: 0 });
    const names: [string, string][] = [];
    for await (const { id, display_name } of client.models.list({ limit: 1 })) names.push([id, display_name]);
    expect(names).toEqual([
      ['acme/large', 'Name of acme/large'],
      ['bolt/small', 'Name of bolt/small'],
    ]);
    const backwards: string[] = [];
    for await (const { id } of client.models.list({ limit: 1, before_id: 'bolt/small' })) backwards.push(id);
    expect(backwards).toEqual(['acme/large']);
  });

  it('has the models that call tools in Codex’s own shape, if Codex asks', async () => {
    const { port } = await startServer();
    const { json } = await ask(port, { path: '/api/v1/models?client_version=0.169.0' });
    expect(Compile(modelListSchema).Check(json)).toBe(true);
    expect(json.models.map(({ slug }: { slug: string }) => slug)).toEqual(['acme/large', 'bolt/small']);
    expect(json.models[0]).toMatchObject({
      display_name: 'Name of acme/large',
      context_window: 100_000,
      input_modalities: ['text', 'image'],
      supported_reasoning_levels: [],
      visibility: 'list',
    });
    expect((await ask(port, { path: '/api/v1/models' })).json.models).toBeUndefined();
  });

  it.each([
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=x', 'limit'],
    ['limit=', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['offset=-1', 'offset'],
    ['after_id=acme/none', 'after_id'],
    ['after_id=acme/painter', 'after_id'],
    ['before_id=', 'before_id'],
    ['after_id=acme/large&before_id=bolt/small', 'before_id'],
    ['offset=1&after_id=acme/large', 'after_id'],
    ['zdr=maybe', 'zdr'],
    ['sort=most-popular', 'sort'],
    ['category=programming', 'category'],
    ['arch=moe', 'arch'],
    ['region=eu', 'region'],
    ['use_rss=true', 'use_rss'],
    ['min_intelligence=5', 'min_intelligence'],
    ['max_price=-1', 'max_price'],
    ['whatever=1', 'whatever'],
  ])('refuses %s by name', async (query, name) => {
    const { port } = await startServer();
    const { status, json } = await ask(port, { path: `/api/v1/models?${query}` });
    expect(status).toBe(400);
    expect(json.error.message.startsWith(`${name}: `)).toBe(true);
    expect(json.error.metadata.issues[0].path).toBe(name);
  });
});

describe('the other catalogue routes', () => {
  it('count', async () => {
    const { port } = await startServer();
    expect((await ask(port, { path: '/api/v1/models/count' })).json).toEqual({ data: { count: 2 } });
    const all = await ask(port, { path: '/api/v1/models/count?output_modalities=all' });
    expect(all.json).toEqual({ data: { count: 3 } });
  });

  it('find a model by id, alias and routing suffix', async () => {
    const { port } = await startServer();
    for (const slug of ['acme/large', 'acme/latest', 'acme/large:nitro', 'acme/latest:floor:online']) {
      const { status, json } = await ask(port, { path: `/api/v1/model/${slug}` });
      expect([slug, status]).toEqual([slug, 200]);
      expect(Compile(modelReplySchema).Check(json)).toBe(true);
      expect(json.data.id).toBe('acme/large');
    }
    for (const slug of ['acme/none', 'acme/large:free', '__proto__/constructor']) {
      expect((await ask(port, { path: `/api/v1/model/${slug}` })).status).toBe(404);
      expect((await ask(port, { path: `/api/v1/models/${slug}/endpoints` })).status).toBe(404);
    }
  });

  it('list endpoints', async () => {
    const { port } = await startServer();
    const { json } = await ask(port, { path: '/api/v1/models/bolt/small/endpoints' });
    expect(Compile(endpointListSchema).Check(json)).toBe(true);
    expect(json.data).toMatchObject({ id: 'bolt/small', architecture: { modality: 'text->text' } });
    expect(json.data.endpoints).toHaveLength(1);
    expect(json.data.endpoints[0]).toMatchObject({
      name: 'Bolt | bolt/small',
      provider_name: 'Bolt',
      tag: 'bolt',
      context_length: 8_000,
      max_completion_tokens: 1_000,
      quantization: 'fp8',
      pricing: { prompt: '0.0000001', completion: '0.0000004' },
      supports_tool_choice: { auto: true, function: true, none: true, required: true },
      status: 0,
      uptime_last_1d: null,
      latency_last_30m: null,
    });
    expect(json.data.endpoints[0].supported_parameters).toContain('seed');
    const other = await ask(port, { path: '/api/v1/models/acme/large/endpoints' });
    expect(other.json.data.endpoints[0]).toMatchObject({
      supported_parameters: ['temperature', 'tools', 'zeta'],
      supports_tool_choice: { auto: true, function: false, none: false, required: false },
    });
  });

  it('list all known providers, those of the file too, without anything secret', async () => {
    const { port } = await startServer();
    const { json, text } = await ask(port, { path: '/api/v1/providers' });
    expect(Compile(providerListSchema).Check(json)).toBe(true);
    const slugs = json.data.map(({ slug }: { slug: string }) => slug);
    expect(slugs).toEqual([...new Set(slugs)].sort());
    expect(slugs).toEqual(expect.arrayContaining(['acme', 'bolt', 'amazon-bedrock', 'openai', 'z-ai']));
    expect(slugs.length).toBeGreaterThan(100);
    expect(json.data.find(({ slug }: { slug: string }) => slug === 'google-ai-studio')).toMatchObject({
      name: 'Google AI Studio',
      headquarters: 'US',
    });
    expect(text).not.toMatch(/upstream/);
  });
});
