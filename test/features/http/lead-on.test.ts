import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { Compile } from 'typebox/compile';
import { afterEach, describe, expect, it } from 'vitest';
import { modelSchema } from '../../../src/contract/catalog/model.ts';
import { ask, startServer, stopServers } from '../../kit/http-harness.ts';

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
    expect(Compile(modelSchema).Check(json)).toBe(true);
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

describe('an error outside the routes of generations', () => {
  it('has the form of the messages format for a client that names a version of it', async () => {
    const { port } = await startServer();
    const client = new Anthropic({ apiKey: 'any', baseURL: `http://127.0.0.1:${port}/api`, maxRetries: 0 });
    const failures = [
      [() => client.beta.skills.list(), 'not_found_error'],
      [() => client.beta.files.retrieveMetadata('file_1'), 'authentication_error'],
      [() => client.models.retrieve('acme/none'), 'not_found_error'],
      [() => client.models.list({ limit: 0 }), 'invalid_request_error'],
    ] as const;
    for (const [ask, type] of failures) {
      const error = await Promise.resolve(ask()).catch((thrown) => thrown);
      expect(error).toBeInstanceOf(Anthropic.APIError);
      expect([error.type, error.error.type]).toEqual([type, 'error']);
      expect(error.error.error).toMatchObject({
        code: error.status,
        metadata: { error_type: expect.any(String) },
      });
    }
  });

  it('has the envelope for all others, and for routes with a format of their own', async () => {
    const { port } = await startServer();
    const plain = await ask(port, { path: '/api/v1/skills' });
    expect(Object.keys(plain.json)).toEqual(['error']);
    const chat = await ask(port, {
      method: 'POST',
      path: '/api/v1/chat/completions',
      headers: { 'anthropic-version': '2023-06-01' },
    });
    expect([chat.status, chat.json.type]).toEqual([401, undefined]);
  });
});

describe('a path that no route answers', () => {
  it.each([
    ['/api/v1/v1/messages', /`\/v1` twice.*Anthropic SDK wants \/api /],
    ['/chat/completions', /is at \/api\/v1\/chat\/completions/],
    ['/api/v1/images/generations', /does not offer \/images\/generations/],
    ['/api/v1beta/models/x:generateContent', /does not offer the Gemini format as input/],
    ['/api/v1/models/x:generateContent?alt=sse', /does not offer the Gemini format as input/],
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
