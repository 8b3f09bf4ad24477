import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { Compile } from 'typebox/compile';
import { afterEach, describe, expect, it } from 'vitest';
import { retrievedModelSchema } from '../../src/contract/catalog/model.ts';
import { ask, startServer, stopServers } from './harness.ts';

afterEach(stopServers);

describe('models.retrieve', () => {
  it('answers the OpenAI and the Anthropic client, which write the slash differently', async () => {
    const { port } = await startServer();
    const openai = new OpenAI({ apiKey: 'any', baseURL: `http://127.0.0.1:${port}/api/v1`, maxRetries: 0 });
    const anthropic = new Anthropic({
      apiKey: 'any',
      baseURL: `http://127.0.0.1:${port}/api`,
      maxRetries: 0,
    });
    expect(await openai.models.retrieve('acme/large')).toMatchObject({
      id: 'acme/large',
      object: 'model',
      owned_by: 'acme',
    });
    expect(await anthropic.models.retrieve('acme/large')).toMatchObject({
      id: 'acme/large',
      type: 'model',
      display_name: 'Name of acme/large',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    });
  });

  it.each(['/api/v1/models/acme/large', '/api/v1/models/acme%2Flarge'])('answers %s', async (path) => {
    const { port } = await startServer();
    const { status, json } = await ask(port, { path });
    expect(status).toBe(200);
    expect(Compile(retrievedModelSchema).Check(json)).toBe(true);
  });

  it('suggests the model that was meant', async () => {
    const { port } = await startServer();
    const { status, json } = await ask(port, { path: '/api/v1/models/acme/lagre' });
    expect([status, json.error.message]).toEqual([
      404,
      'acme/lagre is not a valid model ID. Did you mean acme/large?',
    ]);
  });
});

describe('a path that no route answers', () => {
  it.each([
    ['/api/v1/v1/messages', /`\/v1` twice.*Anthropic SDK wants \/api /],
    ['/chat/completions', /is at \/api\/v1\/chat\/completions/],
    ['/api/v1/images/generations', /does not offer \/images\/generations/],
  ])('gets a 404 that says what to do: %s', async (path, message) => {
    const { port } = await startServer();
    const { status, json } = await ask(port, { method: 'POST', path });
    expect(status).toBe(404);
    expect(json.error.message).toMatch(/^Resource not found\. /);
    expect(json.error.message).toMatch(message);
  });
});

describe('GET /', () => {
  it('leads programs to the interface', async () => {
    const { port } = await startServer();
    const { status, json } = await ask(port, { path: '/' });
    expect(status).toBe(200);
    expect(json).toMatchObject({
      name: 'Signalbox',
      api: '/api/v1',
      docs: '/docs',
      models: '/api/v1/models',
    });
  });

  it('shows browsers a page with links that answer', async () => {
    const { port } = await startServer();
    const response = await fetch(`http://127.0.0.1:${port}/`, { headers: { accept: 'text/html,*/*;q=0.8' } });
    const page = await response.text();
    expect(response.headers.get('content-type')).toContain('text/html');
    const links = [...page.matchAll(/href="([^"]+)"/g)].map(([, link]) => link);
    expect(links.length).toBeGreaterThan(2);
    for (const link of links) expect((await fetch(`http://127.0.0.1:${port}${link}`)).status).toBe(200);
  });
});
