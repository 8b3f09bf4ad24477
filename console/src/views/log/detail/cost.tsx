import type { GenerationRecord } from '../../../api/contract.ts';
import { columnMoney, pricePerMillion } from '../../../format/money.ts';
import { count } from '../../../format/numbers.ts';
import { clockTime } from '../../../format/times.ts';
import { Icon } from '../../../parts/icon.tsx';
import { MoneyText } from '../../../parts/money-text.tsx';

const SOURCES: Readonly<Record<string, string>> = {
  measured: 'Tokens as the upstream reported them.',
  estimated: 'The upstream reported no tokens: the gateway counted them.',
  none: 'Nothing is known of its tokens.',
};

/** All nine places, in every row. */
const nanos = (usd: number) => columnMoney(usd, 9);

/** What was paid for, to the nano-dollar. */
export function Cost({ id, record }: { readonly id: string; readonly record: GenerationRecord }) {
  return (
    <section class="dw-s" id={id}>
      <div class="hd">
        <h2>Cost</h2>
      </div>
      <table class="in plain">
        <thead>
          <tr>
            <th>Part</th>
            <th class="num">Tokens in → out</th>
            <th class="num cst">Cost</th>
          </tr>
        </thead>
        <tbody>
          {record.legs.map((leg, index) => (
            <tr key={index}>
              <td>
                Leg {index + 1} <span class="dim">{leg.model}</span>
              </td>
              <td class="num">
                {count(leg.tokens_prompt ?? 0)} → {count(leg.tokens_completion ?? 0)}
              </td>
              <td class="num">
                <MoneyText money={nanos(leg.cost)} />
              </td>
            </tr>
          ))}
          {record.charges.map(({ kind, cost }, index) => (
            <tr key={`${kind} ${index}`}>
              <td>{kind}</td>
              <td class="num">–</td>
              <td class="num">
                <MoneyText money={nanos(cost)} />
              </td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          {record.reserved !== null && (
            <tr class="t3">
              <td>Reserved before it ran</td>
              <td />
              <td class="num">
                <MoneyText money={nanos(record.reserved)} />
              </td>
            </tr>
          )}
          <tr>
            <td>Settled {clockTime(Date.parse(record.ended_at))}</td>
            <td />
            <td class="num">
              <MoneyText money={nanos(record.total_cost)} />
            </td>
          </tr>
        </tfoot>
      </table>
      <Prices prices={record.prices} />
      <div class="note">
        <Icon name="equal" />
        <span>
          {SOURCES[record.usage_source] ?? ''}
          {record.cache_discount !== null && ` Caching saved $${record.cache_discount}.`}
          {record.write_offs.map(({ cause, cost }) => ` Written off: $${cost} (${cause}).`)}
          {record.upstream_inference_cost !== null &&
            ` Your own credential served it: list price $${record.upstream_inference_cost}.`}
        </span>
      </div>
    </section>
  );
}

/** List prices of the endpoint when the request came in. */
function Prices({ prices }: Pick<GenerationRecord, 'prices'>) {
  if (prices.length === 0) return null;
  return (
    <p class="sm t2">
      Prices of then, $ per million:{' '}
      {prices
        .map(({ name, price, min_prompt_tokens: from }) => {
          const condition = from === 0 ? '' : ` from ${count(from)} prompt tokens on`;
          return `${name.replaceAll('_', ' ')} ${pricePerMillion(Number(price))}${condition}`;
        })
        .join(', ')}
      .
    </p>
  );
}
