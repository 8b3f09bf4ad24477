import { useMutation } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import type { ClassifierTrialObject } from '../../api/contract.ts';
import { ask } from '../../api/request.ts';
import { exactMoney } from '../../format/money.ts';
import { MoneyText } from '../../parts/money-text.tsx';
import { FailureNote } from '../../parts/states.tsx';

/** Ids of generations: what looks like one is looked up, anything else is classified itself. */
const GENERATION_ID = /^gen-[\w-]+$/;

/** Tries a stored classifier with a text or a kept generation. Tags of trials are not kept; their cost is charged. */
export function ClassifierTrial({ id }: { readonly id: string }) {
  const [text, setText] = useState('');
  const trying = useMutation({
    mutationFn: async () => {
      const what = text.trim();
      const body = GENERATION_ID.test(what) ? { generation_id: what } : { text: what };
      const path = `/classifiers/${id}/test`;
      return (await ask<{ data: ClassifierTrialObject }>(path, { method: 'POST', body })).data;
    },
  });
  const trial = trying.data;
  return (
    <fieldset class="f-row stack">
      <legend>Try it</legend>
      <textarea
        class="in-t"
        rows={2}
        aria-label="A text, or the id of a generation"
        placeholder="A text that a user might write, or the id of a generation"
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      <div class="r">
        <button
          class="b"
          type="button"
          disabled={trying.isPending || text.trim() === ''}
          onClick={() => trying.mutate()}
        >
          Ask the model
        </button>
        <span class="sm" role="status">
          {trying.isPending && 'Waiting for an answer…'}
          {trial !== undefined && <Tags trial={trial} />}
        </span>
      </div>
      {trying.isError && <FailureNote error={trying.error} />}
    </fieldset>
  );
}

function Tags({ trial: { tags, problem, cost } }: { readonly trial: ClassifierTrialObject }) {
  const found = Object.entries(tags);
  return (
    <span class="r wrap">
      {found.map(([name, value]) => (
        <span class="tag" key={name}>
          {name}: {value}
        </span>
      ))}
      {found.length === 0 && problem === null && <span>No answer fits.</span>}
      {problem !== null && <span class="bad">{problem}</span>}
      <MoneyText money={exactMoney(cost)} />
    </span>
  );
}
