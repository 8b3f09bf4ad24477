import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openTestGateway } from '../e2e/harness.ts';
import { type ChooseCall, openToolLoop } from '../fakes/agents/tool-loop.ts';
import type { UpstreamDouble } from '../fakes/agents/upstream-double.ts';
import { type FakeUpstream, openFakeUpstream, reply } from '../fakes/fake-upstream.ts';
import { type Agent, NOTE, PROMPT, SEARCH_PROMPT, type Task } from './agent.ts';
import { type ClosedDoor, openClosedDoor } from './closed-door.ts';

/** What one agent works on, and with. */
export interface Loop {
  readonly task: Task;
  /** Is in the note, and on the page that a search finds. */
  readonly word: string;
  readonly upstream: FakeUpstream;
  /** The search engine of the gateway. */
  readonly engine: FakeUpstream;
  readonly door: ClosedDoor;
}

export interface LoopWish {
  readonly agent: Agent;
  readonly double: UpstreamDouble;
  /** What the model calls. */
  readonly choose: ChooseCall;
  /** The word is to be searched for, not copied from the note. */
  readonly searches?: boolean;
}

/** No model knows it by itself. */
const WORD = /heliotrope-[0-9a-f]{8}/;

export const PROVIDER_KEY = 'key-of-the-provider';
const MODEL_ID = 'double/agent';

/** Opens what one loop needs, in folders of its own, and closes it all. */
export async function usingLoop(
  { double, choose, searches = false }: LoopWish,
  work: (loop: Loop) => Promise<void>,
): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'signalbox-agent-'));
  const [folder, home] = [join(root, 'work'), join(root, 'home')];
  mkdirSync(folder);
  mkdirSync(home);
  const word = `heliotrope-${randomBytes(4).toString('hex')}`;
  const content = `The word is ${word}, of all words.`;
  writeFileSync(join(folder, NOTE), `${content}\n`);
  const door = await openClosedDoor();
  const engine = await openFakeUpstream();
  engine.answer(reply(200, { results: [{ url: 'https://words.test/today', title: 'Words', content }] }));
  const upstream = await openToolLoop(double, { choose, pattern: WORD });
  const gateway = await openTestGateway(configuration(double, upstream, engine));
  try {
    const { origin, apiKey } = gateway;
    const prompt = searches ? SEARCH_PROMPT : PROMPT;
    const task = { origin, apiKey, model: MODEL_ID, prompt, folder, home, proxy: door.url, searches };
    await work({ task, word, upstream, engine, door });
  } finally {
    await gateway.close();
    await upstream.close();
    await engine.close();
    await door.close();
    rmSync(root, { recursive: true, force: true });
  }
}

function configuration({ dialect, model }: UpstreamDouble, { url }: FakeUpstream, { port }: FakeUpstream) {
  return {
    providers: [{ slug: 'double', name: 'Double', dialect, base_url: url, api_key: PROVIDER_KEY }],
    models: [
      {
        id: MODEL_ID,
        context_length: 200_000,
        max_output_tokens: 64_000,
        endpoints: [{ provider: 'double', model }],
      },
    ],
    egress: { allow: [`127.0.0.1:${port}`] },
    plugins: { web: { engines: { searxng: { url: `http://127.0.0.1:${port}` } } } },
  };
}
