import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { type ChooseCall, openToolLoop } from '../../kit/fakes/agents/tool-loop.ts';
import type { UpstreamDouble } from '../../kit/fakes/agents/upstream-double.ts';
import { type FakeUpstream, openFakeUpstream, reply } from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
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

/** Where an agent works, without what it is to do. */
export interface WorkPlace {
  readonly task: Omit<Task, 'prompt' | 'searches'>;
  readonly gateway: TestGateway;
  /** The search engine of the gateway. */
  readonly engine: FakeUpstream;
  readonly door: ClosedDoor;
}

export interface WorkPlaceWish {
  readonly double: UpstreamDouble;
  readonly upstream: FakeUpstream;
  readonly model?: string;
  readonly contextLength?: number;
  /** Further members of the configuration. */
  readonly config?: JsonObject;
}

/** Opens what one loop needs, in folders of its own, and closes it all. */
export async function usingLoop(
  { agent: { titleRequest }, double, choose, searches = false }: LoopWish,
  work: (loop: Loop) => Promise<void>,
): Promise<void> {
  const word = `heliotrope-${randomBytes(4).toString('hex')}`;
  const content = `The word is ${word}, of all words.`;
  const upstream = await openToolLoop(double, { choose, pattern: WORD, titleRequest });
  await usingWorkPlace({ double, upstream }, async ({ task, engine, door }) => {
    writeFileSync(join(task.folder, NOTE), `${content}\n`);
    engine.answer(reply(200, { results: [{ url: 'https://words.test/today', title: 'Words', content }] }));
    const prompt = searches ? SEARCH_PROMPT : PROMPT;
    await work({ task: { ...task, prompt, searches }, word, upstream, engine, door });
  });
}

/** A gateway before one upstream, and folders for one agent; closes the upstream with the rest. */
export async function usingWorkPlace(
  wish: WorkPlaceWish,
  work: (place: WorkPlace) => Promise<void>,
): Promise<void> {
  const { upstream, model = MODEL_ID } = wish;
  const root = mkdtempSync(join(tmpdir(), 'signalbox-agent-'));
  const [folder, home] = [join(root, 'work'), join(root, 'home')];
  mkdirSync(folder);
  mkdirSync(home);
  const door = await openClosedDoor();
  const engine = await openFakeUpstream();
  const gateway = await openTestGateway(configuration(wish, engine));
  try {
    const { origin, apiKey } = gateway;
    await work({ task: { origin, apiKey, model, folder, home, proxy: door.url }, gateway, engine, door });
  } finally {
    await gateway.close();
    await upstream.close();
    await engine.close();
    await door.close();
    rmSync(root, { recursive: true, force: true });
  }
}

function configuration(
  { double, upstream, model = MODEL_ID, contextLength = 200_000, config = {} }: WorkPlaceWish,
  { port }: FakeUpstream,
): JsonObject {
  return {
    providers: [
      {
        slug: 'double',
        name: 'Double',
        dialect: double.dialect,
        base_url: upstream.url,
        api_key: PROVIDER_KEY,
      },
    ],
    models: [
      {
        id: model,
        context_length: contextLength,
        max_output_tokens: Math.min(64_000, contextLength),
        input_modalities: ['text', 'image'],
        endpoints: [{ provider: 'double', model: double.model }],
      },
    ],
    egress: { allow: [`127.0.0.1:${port}`] },
    plugins: { web: { engines: { searxng: { url: `http://127.0.0.1:${port}` } } } },
    ...config,
  };
}
