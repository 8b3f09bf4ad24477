import { describe, expect, it } from 'vitest';
import { DOUBLES } from '../../kit/fakes/agents/doubles.ts';
import { type Agent, CLIENTS, isInstalled } from './agent.ts';
import { usingLoop } from './agent-loop.ts';
import { claudeCode } from './claude-code.ts';
import { codex } from './codex.ts';
import { FRAMEWORKS } from './framework.ts';

/** Agents whose own search is switched on, unmodified, before upstreams that have no search: the gateway runs it. */

const CASES = [codex, claudeCode, ...FRAMEWORKS].filter(isInstalled).flatMap(casesOf);

function casesOf(agent: Agent) {
  const { name, search } = agent;
  if (search === undefined) return [];
  const doubles = DOUBLES.filter(({ dialect }) => dialect !== search.native);
  return doubles.map((double) => ({ agent, name, double, dialect: double.dialect, choose: search.choose }));
}

describe.skipIf(CLIENTS === undefined)('web search of agents', () => {
  it.each(CASES)('$name finds the word on $dialect', async ({ agent, double, choose }) => {
    await usingLoop({ agent, double, choose, searches: true }, async ({ task, word, engine, door }) => {
      const { text } = await agent.run(task);
      expect(text).toBe(`The note says ${word}.`);
      expect(engine.requests.map(({ path }) => path)).toEqual([expect.stringContaining('q=word+of+the+day')]);
      expect(door.asked).toEqual([]);
    });
  });
});
