import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openTestGateway } from '../e2e/harness.ts';
import { DOUBLES } from '../fakes/agents/doubles.ts';
import { CALL_ID, openToolLoop } from '../fakes/agents/tool-loop.ts';
import { COUNTED, type UpstreamDouble } from '../fakes/agents/upstream-double.ts';
import type { FakeUpstream } from '../fakes/fake-upstream.ts';
import { type Agent, CLIENTS, COPY, NOTE, PROMPT, RETURNED, type Task, versionOf } from './agent.ts';
import { claudeCode } from './claude-code.ts';
import { type ClosedDoor, openClosedDoor } from './closed-door.ts';
import { codex } from './codex.ts';
import { FRAMEWORKS } from './framework.ts';

/**
 * Agents at work through the gateway: the model, which is ours, calls one of the agent's own tools; the agent runs it
 * and brings the result, with everything that was given to it, back to the model in the form the upstream's dialect
 * has.
 */

const AGENTS: readonly Agent[] = [codex, claudeCode, ...FRAMEWORKS];

/** What is in the notes; no model knows it by itself. */
const WORD = /heliotrope-[0-9a-f]{8}/;

/** What all vendors take as the name of a tool. */
const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

const PROVIDER_KEY = 'key-of-the-provider';
const MODEL_ID = 'double/agent';

describe.skipIf(CLIENTS === undefined)('agents', () => {
  const completed: string[] = [];
  afterAll(() => {
    const counts = AGENTS.map((agent) => {
      const count = completed.filter((name) => name === agent.name).length;
      return `${agent.name} ${versionOf(agent)} (${count} of ${DOUBLES.length})`;
    });
    console.log(`Agents that completed their tool loop, with the count of dialects: ${counts.join(', ')}`);
  });

  describe.each(AGENTS)('$name', (agent) => {
    it.each(DOUBLES)('completes a tool loop on $dialect', async (double) => {
      await usingLoop(agent, double, async ({ task, word, upstream, door }) => {
        const outcome = await agent.run(task);
        expect(outcome.text).toBe(`The note says ${word}.`);
        expect(readFileSync(join(task.folder, COPY), 'utf8')).toContain(word);
        checkRequests(agent, double, { upstream, word });
        expect({ input: 2 * COUNTED.input, output: 2 * COUNTED.output }).toMatchObject(outcome.usage ?? {});
        expect(door.asked).toEqual([]);
      });
      completed.push(agent.name);
    });
  });
});

/** Two requests: the question, and the question with the step and what came of it. */
function checkRequests(
  agent: Agent,
  double: UpstreamDouble,
  { upstream, word }: Pick<Loop, 'upstream' | 'word'>,
): void {
  expect(upstream.requests).toHaveLength(2);
  const [first, second] = upstream.requests.map(({ json }) => json);
  expect(double.stepsOf(first)).toEqual([]);
  expect(double.stepsOf(second)).toEqual([
    {
      ...RETURNED[agent.thoughts],
      call: { id: CALL_ID, ...agent.choose(double.toolsOf(first)) },
      output: expect.stringContaining(word),
    },
  ]);
  const names = double.toolsOf(first).map(({ name }) => name);
  for (const name of names) expect(name).toMatch(TOOL_NAME);
  expect(new Set(names).size).toBe(names.length);
  expect(double.toolsOf(second)).toEqual(double.toolsOf(first));
  const [header, value] = double.keyHeader(PROVIDER_KEY);
  for (const { headers } of upstream.requests) expect(headers[header]).toBe(value);
}

interface Loop {
  readonly task: Task;
  readonly word: string;
  readonly upstream: FakeUpstream;
  readonly door: ClosedDoor;
}

/** Opens what one loop needs, in folders of its own, and closes it all. */
async function usingLoop(agent: Agent, double: UpstreamDouble, work: (loop: Loop) => Promise<void>) {
  const root = mkdtempSync(join(tmpdir(), 'signalbox-agent-'));
  const [folder, home] = [join(root, 'work'), join(root, 'home')];
  mkdirSync(folder);
  mkdirSync(home);
  const word = `heliotrope-${randomBytes(4).toString('hex')}`;
  writeFileSync(join(folder, NOTE), `The word is ${word}, of all words.\n`);
  const door = await openClosedDoor();
  const upstream = await openToolLoop(double, { choose: agent.choose, pattern: WORD });
  const gateway = await openTestGateway(configuration(double, upstream));
  try {
    const { origin, apiKey } = gateway;
    const task = { origin, apiKey, model: MODEL_ID, prompt: PROMPT, folder, home, proxy: door.url };
    await work({ task, word, upstream, door });
  } finally {
    await gateway.close();
    await upstream.close();
    await door.close();
    rmSync(root, { recursive: true, force: true });
  }
}

function configuration({ dialect, model }: UpstreamDouble, { url }: FakeUpstream) {
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
  };
}
