import { chatAnswer } from './answers.ts';
import { end, type FakeUpstream, head, JSON_TYPE, openFakeUpstream, write } from './fake-upstream.ts';

/** A server of models that knows one key. It lists its models, and answers every question with the same text. */
export interface ModelServer extends FakeUpstream {
  /** The key that it knows; null = it needs none. */
  key: string | null;
}

/** Opens a server of models that speaks the interface of chat completions. */
export async function openModelServer(
  models: readonly object[],
  key: string | null,
  text = 'hello from upstream',
): Promise<ModelServer> {
  const upstream = await openFakeUpstream();
  const server: ModelServer = Object.assign(upstream, { key });
  const answer = chatAnswer({ text });
  const json = (status: number, body: object) => [
    head(status, JSON_TYPE),
    write(JSON.stringify(body)),
    end(),
  ];
  upstream.answer((request) => {
    const isKnown = server.key === null || request.headers.authorization === `Bearer ${server.key}`;
    if (!isKnown) {
      const message = `Incorrect API key provided: ${String(request.headers.authorization).slice(7)}`;
      return json(401, { error: { message, type: 'invalid_request_error', code: 'invalid_api_key' } });
    }
    if (request.method === 'GET') return json(200, { object: 'list', data: models });
    return typeof answer === 'function' ? answer(request) : answer;
  });
  return server;
}
