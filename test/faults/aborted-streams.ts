import { request } from 'node:http';
import { openTestGateway, type TestGateway } from '../e2e/harness.ts';
import { openFakeUpstream } from '../fakes/fake-upstream.ts';
import { loggedAnswer, type SentAnswer } from './sent-answers.ts';

/** Tokens of a whole answer. */
export const WHOLE_TOKENS = 400;

/** What the caller knows of one request. */
export interface SeenAnswer {
  readonly user: string;
  readonly tokens: number;
  readonly isWhole: boolean;
}

/** An upstream that keeps its own log, and a gateway in front of it. `slug` decides whether answers are read to their end. */
export async function openAbortBench(slug: string) {
  const upstream = await openFakeUpstream();
  const log: SentAnswer[] = [];
  const pricing = { prompt: '0', completion: '0.00004' };
  const gateway = await openTestGateway({
    providers: [{ slug, name: slug, dialect: 'openai-chat', base_url: upstream.url, api_key: 'sk-none' }],
    models: [{ id: 'm/one', endpoints: [{ provider: slug, model: 'one', pricing }] }],
  } as never);
  upstream.answer(loggedAnswer(log));
  return { upstream, gateway, log };
}

/** Asks for a stream and leaves after about so many tokens; `Infinity`: never. */
export function streamUntil(gateway: TestGateway, user: string, leaveAfter: number): Promise<SeenAnswer> {
  return new Promise((resolve, reject) => {
    let text = '';
    const seen = (isWhole: boolean): SeenAnswer => ({
      user,
      tokens: text.split('"word ').length - 1,
      isWhole,
    });
    const call = request(`${gateway.url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.apiKey}`, 'content-type': 'application/json' },
    });
    const leave = () => {
      call.destroy();
      resolve(seen(false));
    };
    call.on('error', (error) => (call.destroyed ? resolve(seen(false)) : reject(error)));
    call.on('response', (response) => {
      if (response.statusCode !== 200) reject(new Error(`answered ${response.statusCode}`));
      response.on('data', (piece) => {
        text += String(piece);
        if (seen(false).tokens >= leaveAfter) leave();
      });
      response.on('end', () => resolve(seen(text.includes('[DONE]'))));
      response.on('error', () => resolve(seen(false)));
    });
    const messages = [{ role: 'user', content: `${user}; ${WHOLE_TOKENS}` }];
    call.end(JSON.stringify({ model: 'm/one', user, stream: true, messages }));
    if (leaveAfter === 0) setTimeout(leave, Math.random() * 10);
  });
}
