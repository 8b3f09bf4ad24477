import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { DOUBLES } from '../../kit/fakes/agents/doubles.ts';
import { CALL_ID } from '../../kit/fakes/agents/tool-loop.ts';
import { COUNTED, type UpstreamDouble } from '../../kit/fakes/agents/upstream-double.ts';
import type { RecordedRequest } from '../../kit/fakes/fake-upstream.ts';
import { type Agent, CLIENTS, COPY, isInstalled, RETURNED, versionOf } from './agent.ts';
import { type Loop, PROVIDER_KEY, usingLoop } from './agent-loop.ts';
import { claudeCode } from './claude-code.ts';
import { codex } from './codex.ts';
import { FRAMEWORKS } from './framework.ts';
import { OPENCODES } from './opencode.ts';

/**
 * Agents at work through the gateway: the model, which is ours, calls one of the agent's own tools; the agent runs it
 * and brings the result, with everything that was given to it, back to the model in the form the upstream's dialect
 * has.
 */

const AGENTS: readonly Agent[] = [codex, claudeCode, ...OPENCODES, ...FRAMEWORKS].filter(isInstalled);

/** What all vendors take as the name of a tool. */
const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

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
      await usingLoop({ agent, double, choose: agent.choose }, async ({ task, word, upstream, door }) => {
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

/** Two requests: the question, and the question with the step and what came of it. Some ask for a title besides. */
function checkRequests(
  agent: Agent,
  double: UpstreamDouble,
  { upstream, word }: Pick<Loop, 'upstream' | 'word'>,
): void {
  const isTitle = ({ body }: RecordedRequest) =>
    agent.titleRequest !== undefined && body.includes(agent.titleRequest);
  expect(upstream.requests.filter(isTitle).length).toBeLessThanOrEqual(1);
  const asked = upstream.requests.filter((request) => !isTitle(request));
  expect(asked).toHaveLength(2);
  const [first, second] = asked.map(({ json }) => json);
  expect(double.stepsOf(first)).toEqual([]);
  expect(double.stepsOf(second)).toEqual([
    {
      ...RETURNED[double.dialect === agent.shownBy ? 'shown' : agent.thoughts],
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
