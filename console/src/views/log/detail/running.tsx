import { exactMoney, shortMoney } from '../../../format/money.ts';
import { count } from '../../../format/numbers.ts';
import { duration } from '../../../format/times.ts';
import { Icon } from '../../../parts/icon.tsx';
import { MoneyText } from '../../../parts/money-text.tsx';
import type { ShownGeneration } from '../shown-generation.ts';

/** What is known of a generation before its end: its progress at the last checkpoint, and the money held for it. */
export function Running({ row }: { readonly row: ShownGeneration }) {
  return (
    <section class="dw-s" aria-label="Progress">
      <dl class="facts">
        <div>
          <dt>Running for</dt>
          <dd>{duration(row.duration_ms ?? 0)}</dd>
        </div>
        <div>
          <dt>Model</dt>
          <dd>
            {row.model}
            <small>{row.provider_name ?? 'no endpoint has begun to answer'}</small>
          </dd>
        </div>
        <div>
          <dt>Tokens so far</dt>
          <dd>
            {count(row.tokens_prompt)} → {count(row.tokens_completion)}
          </dd>
        </div>
        <div>
          <dt>Cost so far</dt>
          <dd>
            <MoneyText money={exactMoney(row.cost)} />
            <small>{shortMoney(row.reserved ?? 0)} reserved</small>
          </dd>
        </div>
      </dl>
      <div class="note">
        <Icon name="clock" />
        <span>It is running. Its course, its routing and its exact cost appear here when it has ended.</span>
      </div>
    </section>
  );
}
