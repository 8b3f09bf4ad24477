import { expect } from 'vitest';
import type { Expectations } from './expectations.ts';

/** An id that the gateway makes, because the upstream gives none. */
const MADE = expect.stringMatching(/^call_[\w-]+$/);

/** What each of the project's own recordings says. */
export const OWN_EXPECTED: Expectations = {
  'chat/text.sse': [
    {
      dialect: 'chat',
      text: 'Moin, Käpt’n 🚢',
      end: 'stop',
      usage: { inputTokens: 21, cachedTokens: 16, outputTokens: 6 },
    },
  ],
  'chat/interleaved-calls.sse': [
    {
      dialect: 'chat',
      calls: [
        { name: 'tide', callId: 'call_tide', input: '{"port":"Husum"}' },
        { name: 'wind', callId: 'call_wind', input: '{"at":"noon"}' },
      ],
      end: 'tool-calls',
      usage: { inputTokens: 60, outputTokens: 24 },
    },
  ],
  'chat/content-parts.chunks.txt': [
    {
      dialect: 'chat',
      text: 'Two hours.',
      reasoning: ['Two locks, one hour each.'],
      end: 'stop',
      usage: { inputTokens: 12, outputTokens: 18 },
    },
  ],
  'chat/reasoning-content.chunks.txt': [
    {
      dialect: 'chat',
      reasoning: ['The depth is needed.'],
      calls: [{ name: 'depth', callId: 'd1', input: '{"buoy": 7}' }],
      end: 'tool-calls',
      usage: { inputTokens: 300, cachedTokens: 256, outputTokens: 20, reasoningTokens: 6 },
    },
  ],
  'chat/usage-aside.chunks.txt': [
    { dialect: 'chat', text: 'Aye.', end: 'stop', usage: { inputTokens: 9, outputTokens: 2 } },
  ],
  'chat/thoughts-apart.chunks.txt': [
    {
      dialect: 'chat',
      text: 'Port.',
      reasoning: ['Hm.'],
      end: 'stop',
      usage: { inputTokens: 40, outputTokens: 103, reasoningTokens: 100 },
    },
  ],
  'chat/reasoning-details.sse': [
    {
      dialect: 'chat',
      text: 'At six.',
      reasoning: ['Ebb first.'],
      signatures: ['c2lnbmVkLWViYg=='],
      encrypted: ['cmVkYWN0ZWQtZmxvb2Q='],
      end: 'stop',
      usage: { inputTokens: 33, outputTokens: 15, reasoningTokens: 9 },
    },
  ],
  'chat/citations.sse': [
    {
      dialect: 'chat',
      text: 'High water at six.',
      sources: ['https://tides.example/husum'],
      end: 'stop',
      usage: { inputTokens: 800, outputTokens: 7, webSearchRequests: 1 },
    },
  ],
  'chat/length.sse': [{ dialect: 'chat', text: 'Once, off', end: 'length' }],
  'chat/error-in-stream.sse': [
    {
      dialect: 'chat',
      text: 'I was',
      end: 'upstream-overloaded',
      message: 'The service is overloaded.',
      code: 'overloaded_error',
    },
  ],
  'chat/parallel-calls.json': [
    {
      dialect: 'chat',
      calls: [
        { name: 'tide', callId: 'call_1', input: '{"port":"Husum"}' },
        { name: 'now', callId: 'call_2', input: '{}' },
      ],
      end: 'tool-calls',
      usage: { inputTokens: 50, outputTokens: 219, reasoningTokens: 192 },
    },
  ],
  'chat/refusal.json': [
    {
      dialect: 'chat',
      refusal: 'I will not scuttle her.',
      end: 'refusal',
      usage: { inputTokens: 14, outputTokens: 6 },
    },
  ],
  'chat/too-long.json': [
    {
      dialect: 'chat',
      end: 'context-length',
      message: "This model's maximum… 51 01ea7d28",
      code: 'context_length_exceeded',
    },
  ],
  'chat/unknown-model.json': [
    { dialect: 'chat', end: 'not-found', message: 'There is no model harbour-9.', code: 'model_not_found' },
  ],
  'chat/limited.json': [{ dialect: 'chat', end: 'rate-limited', message: 'Slow down', code: '429' }],
  'chat/typed-calls.chunks.txt': [
    {
      dialect: 'chat',
      reasoning: ['First the tide, then the wind.'],
      calls: [
        { name: 'tide', callId: 'tide_1', input: '{"port": "Husum"}' },
        { name: 'wind', callId: 'wind_1', input: '{}' },
      ],
      end: 'tool-calls',
      usage: { inputTokens: 900, cachedTokens: 832, outputTokens: 40 },
    },
  ],
  'chat/typed-thinking.chunks.txt': [
    {
      dialect: 'chat',
      text: 'At seven',
      reasoning: ['Six, or seven?'],
      sources: ['https://tides.example/husum'],
      end: 'length',
      usage: { inputTokens: 8, outputTokens: 50 },
    },
  ],
  'chat/typed-body.json': [
    {
      dialect: 'chat',
      text: 'At seven.',
      reasoning: ['Simple.'],
      end: 'stop',
      usage: { inputTokens: 500, outputTokens: 12 },
    },
  ],
  'chat/typed-error.chunks.txt': [
    { dialect: 'chat', end: 'upstream-unavailable', message: 'generation failed' },
  ],
  'responses/reasoning.sse': [
    {
      dialect: 'responses',
      text: 'Three beams.',
      reasoning: ['**Counting beams**'],
      encrypted: ['c2VhbGVkLWJlYW1z'],
      end: 'stop',
      usage: { inputTokens: 70, cachedTokens: 64, outputTokens: 40, reasoningTokens: 32 },
    },
  ],
  'responses/two-answers.chunks.txt': [
    {
      dialect: 'responses',
      calls: [
        { name: 'beam', callId: 'call_beam', input: '{"at":3}' },
        { name: 'log_book', callId: 'call_log', input: '00:00 all well', kind: 'custom' },
      ],
      end: 'tool-calls',
      usage: { inputTokens: 20, outputTokens: 18 },
    },
    {
      dialect: 'responses',
      text: 'Logged.',
      phases: ['final_answer'],
      end: 'stop',
      usage: { inputTokens: 44, outputTokens: 3 },
    },
  ],
  'responses/failed.chunks.txt': [
    {
      dialect: 'responses',
      end: 'rate-limited',
      message: 'The quota is used up.',
      code: 'insufficient_quota',
    },
  ],
  'responses/cache-write.json': [
    {
      dialect: 'responses',
      text: 'Three beams.',
      phases: ['final_answer'],
      end: 'stop',
      usage: { inputTokens: 4020, cacheWriteTokens: 4012, outputTokens: 5 },
    },
  ],
  'responses/search.chunks.txt': [
    {
      dialect: 'responses',
      text: 'Three beams.',
      sources: ['https://lights.example/'],
      opaque: ['web_search_call'],
      end: 'stop',
      usage: { inputTokens: 900, outputTokens: 9, webSearchRequests: 1 },
    },
  ],
  'responses/incomplete.sse': [
    { dialect: 'responses', text: 'Once the', end: 'length', usage: { inputTokens: 5, outputTokens: 2 } },
  ],
  '../responses/changing-ids.sse': [
    {
      dialect: 'responses',
      text: 'Three.',
      reasoning: ['Counting'],
      encrypted: ['c2VhbA=='],
      end: 'stop',
      usage: { inputTokens: 10, outputTokens: 4 },
    },
  ],
  'messages/thinking.sse': [
    {
      dialect: 'messages',
      text: 'Trimmed — naïvely.',
      reasoning: ['Trim the sail.'],
      signatures: ['c2lnbmVkLXNhaWw='],
      encrypted: ['cmVkYWN0ZWQtc2FpbA=='],
      end: 'stop',
      usage: {
        inputTokens: 102,
        cachedTokens: 30,
        cacheWriteTokens: 20,
        cacheWrite1hTokens: 40,
        outputTokens: 25,
      },
    },
  ],
  'messages/call-without-arguments.chunks.txt': [
    {
      dialect: 'messages',
      text: 'Looking.',
      calls: [{ name: 'now', callId: 'toolu_1', input: '{}' }],
      end: 'tool-calls',
      usage: { inputTokens: 12, outputTokens: 9 },
    },
  ],
  'messages/refusal.chunks.txt': [
    {
      dialect: 'messages',
      end: 'refusal',
      message: 'Not on this ship.',
      category: 'cyber',
      usage: { inputTokens: 12, outputTokens: 4 },
    },
  ],
  'messages/cut-input.sse': [
    {
      dialect: 'messages',
      calls: [{ name: 'write', callId: 'toolu_2', input: '{"file": "log.txt", "lines": ["One' }],
      end: 'length',
      usage: { inputTokens: 12, outputTokens: 16 },
    },
  ],
  'messages/started-twice.chunks.txt': [
    { dialect: 'messages', text: 'pong', end: 'stop', usage: { inputTokens: 61, outputTokens: 2 } },
  ],
  'messages/overloaded.sse': [
    {
      dialect: 'messages',
      end: 'upstream-overloaded',
      message: 'Overloaded',
      code: 'overloaded_error',
      usage: { inputTokens: 12, outputTokens: 1 },
    },
  ],
  'messages/text.json': [
    { dialect: 'messages', text: 'Aye, aye.', end: 'stop', usage: { inputTokens: 68, outputTokens: 4 } },
  ],
  '../gemini/text.sse': [
    { dialect: 'gemini', text: 'Grüße aus 東京 😀', end: 'stop', usage: { inputTokens: 5, outputTokens: 4 } },
  ],
  '../gemini/thoughts.sse': [
    {
      dialect: 'gemini',
      text: 'Three.',
      reasoning: ['I should count.'],
      signatures: ['c2lnLXRob3VnaHQ='],
      encrypted: ['c2lnLWVuZA=='],
      end: 'stop',
      usage: { inputTokens: 5, outputTokens: 10, reasoningTokens: 9 },
    },
  ],
  '../gemini/parallel-calls.sse': [
    {
      dialect: 'gemini',
      text: 'Looking.',
      encrypted: ['c2lnLWNhbGw='],
      calls: [
        { name: 'weather', callId: MADE, input: '{"city":"Oslo","days":2}', signature: 'c2lnLWNhbGw=' },
        { name: 'weather', callId: MADE, input: '{"city":"Rom"}' },
        { name: 'now', callId: 'gemini_fc-1', input: '{}' },
      ],
      end: 'tool-calls',
      usage: { inputTokens: 20, outputTokens: 45, reasoningTokens: 30 },
    },
  ],
  '../gemini/partial-arguments.sse': [
    {
      dialect: 'gemini',
      encrypted: ['c2lnLXBhcnQ='],
      calls: [
        { name: 'book', callId: MADE, input: '{"guests":[{"name":"… 79 2480dd5c', signature: 'c2lnLXBhcnQ=' },
        { name: 'now', callId: MADE, input: '{}' },
      ],
      end: 'tool-calls',
      usage: { inputTokens: 9, outputTokens: 12, reasoningTokens: 4 },
    },
  ],
  '../gemini/cached.sse': [
    {
      dialect: 'gemini',
      text: 'ok',
      end: 'stop',
      usage: { inputTokens: 2000, cachedTokens: 1536, outputTokens: 1 },
    },
  ],
  '../gemini/length.sse': [
    { dialect: 'gemini', text: 'Once upon a', end: 'length', usage: { inputTokens: 5, outputTokens: 3 } },
  ],
  '../gemini/safety.sse': [
    {
      dialect: 'gemini',
      text: 'First you',
      end: 'content-filter',
      message: 'Stopped for safety.',
      category: 'safety',
      usage: { inputTokens: 5, outputTokens: 2 },
    },
  ],
  '../gemini/sources.sse': [
    {
      dialect: 'gemini',
      text: 'Größe: 12. Alt: 7.',
      sources: ['https://a.example/', 'https://a.example/', 'https://b.example/'],
      end: 'stop',
      usage: { inputTokens: 35, outputTokens: 8, webSearchRequests: 2 },
    },
  ],
  '../gemini/error-in-stream.sse': [
    {
      dialect: 'gemini',
      text: 'Well',
      end: 'upstream-overloaded',
      message: 'The model is overloaded.',
      code: 'UNAVAILABLE',
      usage: { inputTokens: 5, outputTokens: 1 },
    },
  ],
  'gemini/limited.json': [
    {
      dialect: 'gemini',
      end: 'rate-limited',
      message: 'The quota is used up.',
      code: 'RESOURCE_EXHAUSTED',
      retryAfterSeconds: 13,
    },
  ],
  'gemini/calls.json': [
    {
      dialect: 'gemini',
      encrypted: ['c2lnLWJvZHk='],
      calls: [{ name: 'tide', callId: MADE, input: '{"port":"Husum"}', signature: 'c2lnLWJvZHk=' }],
      end: 'tool-calls',
      usage: { inputTokens: 29, outputTokens: 19, reasoningTokens: 4 },
    },
  ],
  'bedrock/reasoning.chunks.txt': [
    {
      dialect: 'bedrock',
      text: 'Hove to.',
      reasoning: ['Heave to.'],
      signatures: ['c2lnbmVkLWhlYXZl'],
      end: 'stop',
      usage: { inputTokens: 110, cachedTokens: 60, cacheWriteTokens: 40, outputTokens: 8 },
    },
  ],
  'bedrock/call-without-input.chunks.txt': [
    {
      dialect: 'bedrock',
      text: 'Looking.',
      calls: [{ name: 'now', callId: 'tooluse_1', input: '{}' }],
      end: 'tool-calls',
      usage: { inputTokens: 100, outputTokens: 25 },
    },
  ],
  'bedrock/redacted.bin': [
    {
      dialect: 'bedrock',
      text: 'Grüße 🌊',
      encrypted: ['redacted-heave'],
      end: 'length',
      usage: { inputTokens: 13, outputTokens: 5 },
    },
  ],
};
