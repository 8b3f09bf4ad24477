import { useMutation, useQuery, useQueryClient } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import type { ClassifierRunObject } from '../../api/contract.ts';
import { ask, send } from '../../api/request.ts';
import { exactMoney } from '../../format/money.ts';
import { parseMoney } from '../../format/money-input.ts';
import { counted } from '../../format/numbers.ts';
import { dateTime } from '../../format/times.ts';
import { MoneyText } from '../../parts/money-text.tsx';
import { FailureNote } from '../../parts/states.tsx';

/** How often a run that goes on is read again, milliseconds. */
const AGAIN_MS = 2_000;

/** The newest run over the past, which can be started and stopped here. */
export function ClassifierRuns({ id }: { readonly id: string }) {
  const queries = useQueryClient();
  const queryKey = ['classifier-runs', id];
  const path = `/classifiers/${id}/runs`;
  const [budget, setBudget] = useState('');
  const newest = useQuery({
    queryKey,
    queryFn: async () =>
      (await ask<{ data: ClassifierRunObject[] }>(path, { query: { limit: 1 } })).data[0] ?? null,
    refetchInterval: ({ state }) => (state.data?.state === 'running' ? AGAIN_MS : false),
  });
  const run = newest.data;
  const changing = useMutation({
    mutationFn: () =>
      run?.state === 'running'
        ? send(`${path}/${run.id}/stop`, { method: 'POST' })
        : send(path, { method: 'POST', body: { budget_usd: parseMoney(budget) ?? null } }),
    onSettled: () => queries.invalidateQueries({ queryKey }),
  });
  const isRunning = run?.state === 'running';
  return (
    <fieldset class="f-row stack">
      <legend>The past</legend>
      {run != null && <Progress run={run} />}
      <div class="r">
        {!isRunning && (
          <input
            class="in-t short"
            inputMode="decimal"
            aria-label="Most that the run may cost, in dollars"
            placeholder="most, $"
            value={budget}
            onInput={({ currentTarget }) => setBudget(currentTarget.value)}
          />
        )}
        <button
          class="b"
          type="button"
          disabled={changing.isPending || newest.isPending || (budget.trim() !== '' && !parseMoney(budget))}
          onClick={() => changing.mutate()}
        >
          {isRunning ? 'Stop the run' : 'Classify the last 31 days'}
        </button>
      </div>
      {(newest.isError || changing.isError) && <FailureNote error={changing.error ?? newest.error} />}
      <p class="hint">Only conversations whose prompts and answers are kept.</p>
    </fieldset>
  );
}

function Progress({ run }: { readonly run: ClassifierRunObject }) {
  const { state, seen, tagged, failed, without_content: without, spent_usd: spent, problem } = run;
  return (
    <p class="sm" role="status">
      <b>{state}</b>, started {dateTime(Date.parse(run.created_at))}: {counted(seen, 'conversation')} seen,{' '}
      {tagged} tagged
      {failed > 0 && `, ${failed} failed`}
      {without > 0 && `, ${without} without content`}, <MoneyText money={exactMoney(spent)} />
      {problem !== null && <span class="bad"> {problem}</span>}
    </p>
  );
}
