import { useQuery } from '@tanstack/preact-query';
import { useEffect, useState } from 'preact/hooks';
import { addressWith, go, useAddress } from '../../address/address.ts';
import type { Explanation } from '../../api/contract.ts';
import { ask } from '../../api/request.ts';
import { exactMoney } from '../../format/money.ts';
import { count } from '../../format/numbers.ts';
import { RouteRail } from '../../parts/route/route-rail.tsx';
import { stopsOfExplanation } from '../../parts/route/route-stops.ts';
import { FailureNote, SkeletonRows } from '../../parts/states.tsx';
import type { Draft } from './conversation.ts';
import type { Format } from './format.ts';
import { Replay } from './replay.tsx';

/** How long the reader has to pause before the request is explained again, milliseconds. */
const AFTER_TYPING_MS = 400;

interface Props {
  readonly format: Format;
  readonly draft: Draft;
  readonly actAs: string | null;
}

/** What would become of the request now, and how that differs from a past decision. */
export function ExplainRouting({ format, draft, actAs }: Props) {
  const { stream: _, ...body } = format.body(draft) as Record<string, unknown>;
  const request = useSettled(JSON.stringify({ format: format.name, ...body }));
  const explanation = useQuery({
    queryKey: ['explain', request, actAs],
    queryFn: async () =>
      (
        await ask<{ data: Explanation }>('/routing/explain', {
          method: 'POST',
          body: JSON.parse(request) as unknown,
          ...(actAs !== null && { headers: { 'X-Console-Key': actAs } }),
        })
      ).data,
    // The model is chosen once the list of models has come.
    enabled: (JSON.parse(request) as { readonly model?: string }).model !== '',
    placeholderData: (before) => before,
  });
  return (
    <>
      <p class="sm t2 hd">What would happen now. No provider is called, nothing is charged.</p>
      {explanation.isPending && <SkeletonRows count={4} />}
      {explanation.isError && <FailureNote error={explanation.error} onRetry={() => explanation.refetch()} />}
      {explanation.data !== undefined && !explanation.isError && <Decision explanation={explanation.data} />}
      <hr class="hr" />
      <CompareWith />
      <Replay now={explanation.isError ? undefined : explanation.data} />
    </>
  );
}

function Decision({ explanation }: { readonly explanation: Explanation }) {
  const { candidates, estimate, error } = explanation;
  const translation = candidates[0]?.translation ?? explanation.translation ?? [];
  return (
    <>
      <RouteRail stops={stopsOfExplanation(explanation)} label="Route" />
      {error !== undefined && (
        <div class="note bad">
          <span>
            The request would get {error.code}: {error.message}
          </span>
        </div>
      )}
      <hr class="hr" />
      <h3>Would be reserved</h3>
      <p class="sm t2">{reservationOf(estimate)}</p>
      <hr class="hr" />
      <div class="r">
        <h3>Would be translated</h3>
        <span class="sm t3 push">{candidates[0]?.lane === 'relay' ? 'sent on as it is' : ''}</span>
      </div>
      {translation.length === 0 ? (
        <p class="sm t2">Nothing is lost or changed.</p>
      ) : (
        <table class="in plain">
          <tbody>
            {translation.map(({ field, action, detail }) => (
              <tr key={field}>
                <td title={detail}>
                  <code>{field}</code>
                </td>
                <td class="num">
                  <span class={`verd ${action === 'dropped' ? 'd' : 'a'}`}>{action.replace('_', ' ')}</span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

function reservationOf({ prompt_tokens, max_output_tokens, max_cost_usd }: Explanation['estimate']): string {
  const prompt = `${count(prompt_tokens)} prompt tokens`;
  if (max_output_tokens === null || max_cost_usd === null) {
    return `Nothing bounds the answer to ${prompt}, so its cost cannot be said.`;
  }
  const { main, below } = exactMoney(max_cost_usd);
  return `${main}${below} for ${prompt} and at most ${count(max_output_tokens)} tokens of answer.`;
}

/** Opens a past generation beside today's decision. */
function CompareWith() {
  const address = useAddress();
  const [id, setId] = useState(address.query.get('generation') ?? '');
  const submit = (event: Event): void => {
    event.preventDefault();
    go(addressWith(address, { generation: id.trim() === '' ? null : id.trim() }));
  };
  return (
    <form onSubmit={submit}>
      <h3>Compare with a past decision</h3>
      <div class="r">
        <input
          class="in-t mono"
          aria-label="Id of a generation"
          placeholder="gen-…"
          value={id}
          onInput={(event) => setId(event.currentTarget.value)}
        />
        <button class="b lg" type="submit">
          Replay
        </button>
      </div>
    </form>
  );
}

/** A text once it has not changed for a while. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(setSettled, AFTER_TYPING_MS, text);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
