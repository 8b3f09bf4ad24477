import { describe, expect, it } from 'vitest';
import { DOUBLES } from '../../kit/fakes/agents/doubles.ts';
import type { UpstreamDouble } from '../../kit/fakes/agents/upstream-double.ts';
import { end, type FakeUpstream, head, openFakeUpstream, write } from '../../kit/fakes/fake-upstream.ts';
import { CLIENTS, isInstalled } from './agent.ts';
import { usingWorkPlace, type WorkPlace } from './agent-loop.ts';
import { OPENCODES } from './opencode.ts';
import { type Conversation, type ConversingAgent, claudeSession, codexSession } from './session.ts';

/** Agents before models whose context is smaller than they think: they see the overflow for what it is. */

const SESSIONS: readonly ConversingAgent[] = [claudeSession, codexSession].filter(isInstalled);
const SINGLE_RUNS: readonly ConversingAgent[] = OPENCODES.filter(isInstalled);
const ROWS = [
  ...SESSIONS.flatMap((agent) =>
    DOUBLES.map((double) => rowOf(agent, double, { contextLength: 120_000, words: 15_000, turns: 6 })),
  ),
  // Each turn starts their program once more, which takes seconds.
  ...SINGLE_RUNS.map((agent) =>
    rowOf(agent, DOUBLES[0] as UpstreamDouble, { contextLength: 50_000, words: 8_000, turns: 3 }),
  ),
];
type Row = (typeof ROWS)[number];

/** A conversation that grows beyond the context of its model. */
interface Growth {
  readonly contextLength: number;
  /** Repetitions of two words in each turn, of one token each. */
  readonly words: number;
  readonly turns: number;
}

function rowOf(agent: ConversingAgent, double: UpstreamDouble, growth: Growth) {
  return { agent, double, growth, name: agent.name, dialect: double.dialect };
}

/** What each agent says of a prompt that can never fit. */
const FINAL = {
  [claudeSession.name]: 'prompt_too_long',
  [codexSession.name]: 'contextWindowExceeded',
  ...Object.fromEntries(OPENCODES.map(({ name }) => [name, 'ContextOverflowError'])),
};

async function usingSession(
  { agent, double }: Row,
  contextLength: number,
  work: (session: Conversation, upstream: FakeUpstream, gateway: WorkPlace['gateway']) => Promise<void>,
): Promise<void> {
  const upstream = await openFakeUpstream();
  await usingWorkPlace({ double, upstream, model: agent.model, contextLength }, async ({ task, gateway }) => {
    upstream.answer(({ body }) => {
      const text = isSummary(agent, body) ? '<summary>Many words.</summary>' : 'Read.';
      return [head(200, { 'content-type': double.mediaType }), write(double.textStream(text)), end()];
    });
    const session = await agent.open(task, { checksItself: true });
    try {
      await work(session, upstream, gateway);
    } finally {
      session.close();
    }
  });
}

/** Milliseconds for one conversation, on a busy machine. */
const LIMIT_MS = 300_000;

const isSummary = ({ summaryRequest }: ConversingAgent, body: string) => body.includes(summaryRequest);
const statusesOf = (gateway: WorkPlace['gateway']) =>
  gateway.logged('request').map(({ status }) => Number(status));

describe.skipIf(CLIENTS === undefined)('a model of small context', () => {
  // The upstream, of whichever dialect, is not asked.
  it.each(ROWS.filter(({ double }) => double === DOUBLES[0]))('ends $name if nothing fits', async (row) => {
    await usingSession(row, 6000, async (session, upstream, gateway) => {
      const { status, text } = await session.turn('Hello');
      expect(status).toBe('failed');
      expect(text).toContain(FINAL[row.name]);
      // Beside the prompt an agent may ask for a count; it does not try again and again.
      expect(statusesOf(gateway).length).toBeLessThanOrEqual(3);
      expect(statusesOf(gateway).filter((status) => status >= 500)).toEqual([]);
      expect(upstream.requests).toEqual([]);
    });
  });

  it.each(ROWS)(
    'has $name sum up and go on, on $dialect',
    async (row) => {
      const { contextLength, words, turns } = row.growth;
      const long = 'many words '.repeat(words);
      await usingSession(row, contextLength, async (session, upstream, gateway) => {
        const ends: string[] = [];
        for (let turn = 1; turn <= turns; turn++)
          ends.push((await session.turn(`Read ${turn}: ${long}`)).status);
        // Claude Code sums up in the turn that was too long, Codex at the start of the next.
        expect(ends.filter((status) => status === 'failed').length).toBeLessThanOrEqual(1);
        expect(ends.at(-1)).toBe('completed');
        expect(upstream.requests.some(({ body }) => isSummary(row.agent, body))).toBe(true);
        expect(statusesOf(gateway).filter((status) => status >= 500)).toEqual([]);
      });
    },
    LIMIT_MS,
  );
});
