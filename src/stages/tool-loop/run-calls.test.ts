import { describe, expect, it } from 'vitest';
import type { ToolCallItem } from '../../ir/items.ts';
import type { ServerTool, ToolContext } from '../../tools/server-tool.ts';
import type { OfferedTools } from './offered-tools.ts';
import { runCalls, ToolUses } from './run-calls.ts';

const RESULT_CHARACTERS = 1000;

/** The outcome of one call of a tool. */
async function outcomeOf(run: ServerTool['run'], signal = new AbortController().signal) {
  const offered = { tool: { name: 'tool', run }, parameters: {}, name: 'tool', schema: {} };
  const tools = { named: () => offered } as unknown as OfferedTools;
  const limits = { toolMs: 20, resultCharacters: RESULT_CHARACTERS };
  const context = {
    signal,
    settings: { web: { limits } },
    now: () => 0,
    log: { warn: () => {} },
  } as unknown as ToolContext;
  const call: ToolCallItem = { type: 'tool-call', kind: 'function', callId: 'c', name: 'tool', input: '' };
  const nested = () => Promise.reject(new Error('no model'));
  const observer = { tell: () => {}, showStep: () => {}, began: () => {}, nested, ended: async () => {} };
  const [running] = runCalls([call], tools, new ToolUses(), context, observer);
  return running?.outcome;
}

describe('runCalls', () => {
  it('ends a tool that takes too long, and aborts it', async () => {
    let isAborted = false;
    const finished = await outcomeOf((_, { signal }) => {
      signal.addEventListener('abort', () => {
        isAborted = true;
      });
      return new Promise(() => {});
    });
    expect(finished).toMatchObject({ end: 'timeout', isRun: true, outcome: { isFailed: true } });
    expect(isAborted).toBe(true);
  });

  it('replaces characters that upstreams refuse', async () => {
    const finished = await outcomeOf(async () => ({ output: 'a\ud800b\0c😀', shown: {} }));
    expect(finished?.outcome.output).toBe('a\ufffdb\ufffdc😀');
  });

  it('cuts a result of five million characters', async () => {
    const finished = await outcomeOf(async () => ({ output: 'x'.repeat(5_000_000), shown: {} }));
    expect(finished?.outcome.output.length).toBeLessThanOrEqual(RESULT_CHARACTERS);
    expect(finished?.end).toBe('ok');
  });

  it('gives the model an error for a tool that throws, without the text of that error', async () => {
    const finished = await outcomeOf(() => {
      throw new Error('secret');
    });
    expect(finished).toMatchObject({ end: 'error', outcome: { isFailed: true } });
    expect(finished?.outcome.output).not.toContain('secret');
  });

  it('cancels a call whose caller has left, and does not begin one afterwards', async () => {
    const leaving = new AbortController();
    const pending = outcomeOf(() => new Promise(() => {}), leaving.signal);
    leaving.abort(new Error('left'));
    expect(await pending).toMatchObject({ end: 'cancelled' });
    let isBegun = false;
    const late = await outcomeOf(async () => {
      isBegun = true;
      return { output: '', shown: {} };
    }, leaving.signal);
    expect(late).toMatchObject({ end: 'cancelled', isRun: false });
    expect(isBegun).toBe(false);
  });
});
