import { exactMoney } from '../../../format/money.ts';
import { count } from '../../../format/numbers.ts';
import { dateTime, duration } from '../../../format/times.ts';
import { Icon } from '../../../parts/icon.tsx';
import { MoneyText } from '../../../parts/money-text.tsx';
import { errorText, STATES } from '../log-words.ts';
import type { ShownGeneration } from '../shown-generation.ts';

/** A generation that has a row and no record: it was imported, or its record is no longer kept. */
export function RowAlone({ row }: { readonly row: ShownGeneration }) {
  const isFailed = row.state === 'failed' || row.state === 'refused';
  return (
    <section class="dw-s" aria-label="What the log has">
      <dl class="facts">
        <div>
          <dt>State</dt>
          <dd>
            {isFailed ? errorText(row.error_status, row.error_type) : STATES[row.state].text}
            <small>{dateTime(Date.parse(row.created_at))}</small>
          </dd>
        </div>
        <div>
          <dt>Model</dt>
          <dd>
            {row.model}
            {row.provider_name !== null && <small>{row.provider_name}</small>}
          </dd>
        </div>
        <div>
          <dt>Total</dt>
          <dd>{row.duration_ms === null ? '–' : duration(row.duration_ms)}</dd>
        </div>
        <div>
          <dt>First token</dt>
          <dd>{row.latency === null ? '–' : duration(row.latency)}</dd>
        </div>
        <div>
          <dt>Tokens</dt>
          <dd>
            {count(row.tokens_prompt)} → {count(row.tokens_completion)}
          </dd>
        </div>
        <div>
          <dt>Cost</dt>
          <dd>
            <MoneyText money={exactMoney(row.cost + row.byok_cost)} />
          </dd>
        </div>
      </dl>
      <div class="note">
        <Icon name="log" />
        <span>
          {isImported(row)
            ? 'It was imported: the log has its figures alone. Its course and its routing are not known here.'
            : 'The log has its figures alone: it was imported, or its record is no longer kept.'}
        </span>
      </div>
    </section>
  );
}

/** Imported usage names a provider, and no endpoint of this gateway. */
function isImported({ endpoint, provider_name: provider }: ShownGeneration): boolean {
  return endpoint === null && provider !== null;
}
