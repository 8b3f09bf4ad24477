import { chat } from '../../../src/dialects/chat/index.ts';
import type { ConversationFormat, RelayedUpstream } from '../../../src/dialects/dialect.ts';
import { GatewayError } from '../../../src/ir/errors.ts';
import type { Event } from '../../../src/ir/events.ts';
import { SSE_TYPE, SseReader } from '../../../src/kit/frames/sse.ts';
import { isJsonObject } from '../../../src/kit/json/json.ts';

const upstream: RelayedUpstream = {
  path: () => '/chat/completions',
  streamType: SSE_TYPE,
  createFrameReader: (maxBytes) => new SseReader(maxBytes),
  renderRequest(_request, target) {
    return {
      body: { model: target.model, lane: 'translate', note: 'the key is CANARY-7f3a91', api_key: 'x' },
      headers: { 'X-Dialect': 'line' },
      report: [{ field: 'top_k', action: 'dropped', detail: 'not known' }],
    };
  },
  renderRelay(_request, target) {
    return { body: { model: target.model, lane: 'relay' }, headers: {}, report: [] };
  },
  createDecoder() {
    let done = false;
    return {
      decode({ data }) {
        if (done) throw new Error('read past the end');
        if (data === '[DONE]') {
          done = true;
          return [{ type: 'finish', reason: 'stop' }];
        }
        return eventsOf(data);
      },
      end: () => (done ? [] : [failure('the stream ended early')]),
    };
  },
  decodeBody: (body) =>
    typeof body.text === 'string'
      ? [
          { type: 'text-delta', item: 0, part: 0, kind: 'text', text: body.text },
          { type: 'finish', reason: 'stop' },
        ]
      : [failure('no answer in the body')],
  readError(body) {
    const error = isJsonObject(body) ? body.error : undefined;
    return isJsonObject(error) ? { message: String(error.message ?? '') } : undefined;
  },
};

function eventsOf(data: string): Event[] {
  try {
    const value = JSON.parse(data) as { text?: string; error?: string };
    if (value.error !== undefined) return [failure(value.error)];
    return [{ type: 'text-delta', item: 0, part: 0, kind: 'text', text: value.text ?? '' }];
  } catch {
    return [];
  }
}

function failure(message: string): Event {
  return { type: 'failure', error: new GatewayError('server', message) };
}

/**
 * The smallest dialect there can be, so that calls are tested apart from real ones: a frame `{"text":"..."}` is a
 * delta, `{"error":"..."}` a failure, `[DONE]` the end.
 */
export const lineDialect: ConversationFormat = { ...chat, upstream };
