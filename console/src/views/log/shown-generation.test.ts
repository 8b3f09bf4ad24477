import { expect, it } from 'vitest';
import type { RunningGenerationObject } from '../../api/contract.ts';
import { afterLook, ENDING_MS, shownRunning } from './shown-generation.ts';

const running = (id: string): RunningGenerationObject => ({
  id,
  created_at: '2026-11-17T05:00:00.000Z',
  model: 'acme/one',
  provider_name: null,
  workspace_id: 'w',
  workspace_name: null,
  key_hash: 'k',
  key_name: null,
  app: null,
  request_format: 'chat',
  streamed: true,
  tokens_prompt: 0,
  tokens_completion: 0,
  cost: 0,
  reserved: 0.5,
  tool_calls: 0,
  session_id: null,
  trace_id: '0af7651916cd43dd8448eb211c80319c',
  request_id: null,
  external_user: null,
});

it('keeps a generation that has ended until its row can be expected', () => {
  const first = afterLook([], [running('a'), running('b')], 1_000);
  const second = afterLook(first, [running('b')], 3_000);
  expect(second.map(({ row, seenMs }) => [row.id, seenMs])).toEqual([
    ['b', 3_000],
    ['a', 1_000],
  ]);
  expect(afterLook(second, [], 1_000 + ENDING_MS).map(({ row }) => row.id)).toEqual(['b']);
});

it('shows how long it runs, whatever the clocks say', () => {
  const atMs = Date.parse('2026-11-17T05:00:02.500Z');
  expect(shownRunning(running('a'), atMs)).toMatchObject({
    state: 'running',
    duration_ms: 2_500,
    reserved: 0.5,
  });
  expect(shownRunning(running('a'), atMs - 10_000).duration_ms).toBe(0);
});
