import { describe, expect, it } from 'vitest';
import { hintForLostPath } from './lost-path.ts';

const ROUTES = ['/chat/completions', '/messages', '/models', '/models/count', '/keys', '/keys/{hash}'];

const hint = (path: string) => hintForLostPath(path, '/api/v1', ROUTES);

describe('the hint for a path without a route', () => {
  it.each([
    ['/api/v1/v1/messages', /`\/v1` twice: .*the Anthropic SDK wants \/api \(it adds `\/v1` itself\)/],
    ['/v1/v1/chat/completions', /`\/v1` twice: .*the OpenAI SDK wants \/api\/v1,/],
    ['/chat/completions', /^\/chat\/completions is at \/api\/v1\/chat\/completions: /],
    ['/api/responses', /^\/responses is at \/api\/v1\/responses: /],
    ['/openai/v1/models', /^\/models is at \/api\/v1\/models: /],
    [
      '/api/v1/chat/completions/chat/completions',
      /^The base address ends in .*the OpenAI SDK wants \/api\/v1,/,
    ],
    [
      '/api/v1/messages/v1/messages',
      /^The base address ends in \/messages; .*the Anthropic SDK wants \/api /,
    ],
  ])('names the base address that the client should have: %s', (path, expected) => {
    expect(hint(path)).toMatch(expected);
  });

  it.each([
    [
      '/api/v1/images/generations',
      'This gateway does not offer /images/generations. Ask a model with image output',
    ],
    ['/v1/audio/speech', 'This gateway does not offer /audio/speech.'],
    [
      '/api/v1/messages/batches',
      'This gateway does not offer /messages/batches. Send the requests one by one',
    ],
    ['/api/v1/responses/resp_1', 'This gateway does not offer /responses/resp_1. Answers are not stored'],
    ['/completions', 'This gateway does not offer /completions. Use /chat/completions.'],
    ['/api/v1/completion', 'This gateway does not offer /completions. Use /chat/completions.'],
    ['/v1/batchs/batch_1', 'This gateway does not offer /batches/batch_1.'],
    ['/api/v1/rerank', 'This gateway does not offer /rerank. Have a model score the documents'],
    ['/api/v1/presets', 'This gateway does not offer /presets. Presets are in the configuration file'],
    ['/api/v1/presets/a/messages', 'This gateway does not offer /presets/a/messages.'],
    ['/api/v1/endpoints/zdr', 'This gateway does not offer /endpoints/zdr. GET /models?zdr=true'],
    ['/api/v1/observability', 'Traces go to /observability/destinations'],
    ['/api/v1/benchmarks', 'This gateway does not offer /benchmarks.'],
    ['/api/v1/agents', 'This gateway does not offer /agents. Use /responses with server tools'],
  ])('says what is offered instead: %s', (path, expected) => {
    expect(hint(path)).toContain(expected);
  });

  it.each([
    '/api/v1beta/models/acme/large:generateContent',
    '/v1beta/models/x:streamGenerateContent',
    '/api/v1/models/x:generateContent',
    '/api/v1/models/x:countTokens',
    '/v1beta/models',
    '/v1alpha/cachedContents/1',
  ])('says that the Gemini format is not offered: %s', (path) => {
    expect(hint(path)).toBe(
      'This gateway does not offer the Gemini format as input. Ask Gemini models at /api/v1/responses, /api/v1/messages, /api/v1/chat/completions.',
    );
  });

  it('takes the address of Gemini’s OpenAI interface for a wrong base', () => {
    expect(hint('/v1beta/openai/chat/completions')).toMatch(/^\/chat\/completions is at /);
  });

  it.each([
    ['/api/v1/chat/completion', '/api/v1/chat/completions'],
    ['/api/v1/chat/complitions/', '/api/v1/chat/completions'],
    ['/v1/message', '/api/v1/messages'],
    ['/chat/completion', '/api/v1/chat/completions'],
    ['/api/v1/model/count', '/api/v1/models/count'],
    ['/api/v1/keyss', '/api/v1/keys'],
    ['/api/v1/key/abc', '/api/v1/keys/abc'],
  ])('names the route that was probably meant: %s', (path, meant) => {
    expect(hint(path)).toBe(`Did you mean ${meant}?`);
  });

  it.each(['/v1', '/v1/', '/api', '/api/v1', '/api/v1/'])('names the routes below the base: %s', (path) => {
    expect(hint(path)).toMatch(/^Routes are below \/api\/v1, such as GET \/api\/v1\/models .*\/docs\.$/);
  });

  it.each(['/favicon.ico', '/api/v1/nothing', '/constructor', '/'])('leads to the list: %s', (path) => {
    expect(hint(path)).toBe('All routes are listed at /docs.');
  });

  it('works for a base path without a version', () => {
    const hint = hintForLostPath('/chat/completions', '/llm', ROUTES);
    expect(hint).toContain('is at /llm/chat/completions');
    expect(hint).toContain('the OpenAI SDK wants /llm, the Anthropic SDK wants / (it adds');
  });
});
