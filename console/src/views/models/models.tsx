import { useQuery } from '@tanstack/preact-query';
import { useMemo, useRef, useState } from 'preact/hooks';
import { type Address, addressWith, go, useAddress } from '../../address/address.ts';
import type { EndpointStateObject, ModelObject } from '../../api/contract.ts';
import { partMeta } from '../../api/part.ts';
import { ask } from '../../api/request.ts';
import { count, counted } from '../../format/numbers.ts';
import { Icon } from '../../parts/icon.tsx';
import { SearchBox } from '../../parts/search-box.tsx';
import { Empty, FailureNote, SkeletonRows } from '../../parts/states.tsx';
import { sorted, sortOf, sortText } from '../../parts/table/sort.ts';
import { useShownColumns } from '../../parts/table/use-shown-columns.ts';
import { TopBar } from '../../parts/top-bar.tsx';
import { CompareDialog } from './compare-dialog.tsx';
import { MODEL_COLUMNS } from './model-columns.tsx';
import { ModelDetail } from './model-detail.tsx';
import { fits, type ModelRow, modelRows, takesOf } from './model-facts.ts';

/** How often health is asked for, milliseconds. */
const EVERY_MS = 15_000;

/** Models that stand side by side. */
const MAX_COMPARED = 4;

/** Rows that are drawn at first; a button draws all. */
const FIRST_ROWS = 200;

const DAY_MS = 86_400_000;

/** The catalogue with prices and health. A row opens its endpoints and the history of its prices. */
export function Models() {
  const address = useAddress();
  const [isComparing, setComparing] = useState(false);
  const { rows, models, retry, error } = useModelRows();
  const wish = {
    search: address.query.get('search') ?? '',
    takes: address.query.get('takes'),
    provider: address.query.get('provider'),
  };
  const sort = sortOf(address.query.get('sort'));
  const shown = useMemo(() => {
    const found = rows.filter((row) => fits(row, wish));
    const by = MODEL_COLUMNS.find(({ name }) => name === sort?.by)?.sortValue;
    return by === undefined ? found : sorted(found, by, sort?.isDescending ?? false);
  }, [rows, wish.search, wish.takes, wish.provider, sort?.by, sort?.isDescending]);
  const compared = (address.query.get('compare') ?? '').split(',').filter((id) => id !== '');
  const compare = (ids: readonly string[]) =>
    go(addressWith(address, { compare: ids.length === 0 ? null : ids.join(',') }), { replace: true });
  const providers = [...new Set(rows.flatMap((row) => row.endpoints.map(({ provider }) => provider)))].sort();
  return (
    <>
      <TopBar
        title="Models"
        detail={
          models &&
          `${count(models.length)}${providers.length > 0 ? ` of ${counted(providers.length, 'provider')}` : ''}`
        }
      >
        <SearchBox placeholder="Name or author" />
      </TopBar>
      <Filters address={address} rows={rows} providers={providers} />
      <main id="main" class="models">
        {error !== null && (
          <div class="pad">
            <FailureNote error={error} onRetry={retry} />
          </div>
        )}
        {models === undefined && error === null && <SkeletonRows />}
        {models !== undefined && shown.length === 0 && <NoModels isNarrowed={models.length > 0} />}
        {shown.length > 0 && (
          <ModelTable
            rows={shown}
            opened={address.query.get('open')}
            onToggle={(id) =>
              go(addressWith(address, { open: id === address.query.get('open') ? null : id }), {
                replace: true,
              })
            }
            compared={compared}
            onCompare={compare}
            sort={sort}
            onSort={(next) => go(addressWith(address, { sort: sortText(next) }), { replace: true })}
          />
        )}
        {compared.length > 0 && (
          <section class="tray" aria-label="Models to compare">
            <b>{compared.length} to compare</b>
            {compared.map((id) => (
              <span class="chip" key={id}>
                <span class="v">{id}</span>
                <button
                  type="button"
                  aria-label={`Remove ${id}`}
                  onClick={() => compare(compared.filter((each) => each !== id))}
                >
                  <Icon name="cross" size={12} />
                </button>
              </span>
            ))}
            <span class="push" />
            <button
              class="b pri"
              type="button"
              disabled={compared.length < 2}
              onClick={() => setComparing(true)}
            >
              Compare
            </button>
          </section>
        )}
      </main>
      {isComparing && (
        <CompareDialog
          rows={compared.flatMap((id) => rows.find(({ model }) => model.id === id) ?? [])}
          onClose={() => setComparing(false)}
        />
      )}
    </>
  );
}

/** Models, the health of their endpoints if the key may see it, and what was spent on each in the last day. */
function useModelRows() {
  const models = useQuery({
    queryKey: ['models', 'usable'],
    queryFn: () => ask<{ data: ModelObject[] }>('/models', { query: { output_modalities: 'all' } }),
    staleTime: 60_000,
  });
  const endpoints = useQuery({
    queryKey: ['gateway', 'endpoints'],
    meta: partMeta('The health of endpoints'),
    queryFn: () => ask<{ data: EndpointStateObject[] }>('/gateway/endpoints'),
    refetchInterval: EVERY_MS,
  });
  const spend = useQuery({
    queryKey: ['models', 'spend'],
    meta: partMeta('The share of spend'),
    queryFn: readSpend,
    staleTime: 60_000,
  });
  const rows = useMemo(
    () => modelRows(models.data?.data ?? [], endpoints.data?.data ?? [], spend.data),
    [models.data, endpoints.data, spend.data],
  );
  return {
    rows,
    models: models.data?.data,
    error: models.isError ? models.error : null,
    retry: () => void models.refetch(),
  };
}

/** Spend of the last day, by the permanent slug of the model. */
async function readSpend(): Promise<ReadonlyMap<string, number>> {
  const now = Date.now();
  const { data } = await ask<{ data: { data: { model: string; total_usage: number }[] } }>(
    '/analytics/query',
    {
      method: 'POST',
      body: {
        metrics: ['total_usage'],
        dimensions: ['model'],
        time_range: { start: new Date(now - DAY_MS).toISOString(), end: new Date(now).toISOString() },
        limit: 10_000,
      },
    },
  );
  return new Map(data.data.map((row) => [row.model, Number(row.total_usage)]));
}

interface FilterProps {
  readonly address: Address;
  readonly rows: readonly ModelRow[];
  readonly providers: readonly string[];
}

function Filters({ address, rows, providers }: FilterProps) {
  const takes = [...new Set(rows.flatMap(({ model }) => takesOf(model)))].sort();
  const choose = (name: string, value: string) =>
    go(addressWith(address, { [name]: value === '' ? null : value }), { replace: true });
  return (
    <search class="filters">
      <Choice name="takes" title="Takes" all="anything" values={takes} address={address} onChoose={choose} />
      {providers.length > 0 && (
        <Choice
          name="provider"
          title="Provider"
          all="any provider"
          values={providers}
          address={address}
          onChoose={choose}
        />
      )}
      <span class="push sm t3 wide">
        $ per million tokens, first endpoint. First token and speed: best median of 30 min. Answered and
        spend: 24 hours.
      </span>
    </search>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly title: string;
  readonly all: string;
  readonly values: readonly string[];
  readonly address: Address;
  readonly onChoose: (name: string, value: string) => void;
}

function Choice({ name, title, all, values, address, onChoose }: ChoiceProps) {
  return (
    <label class="lab">
      {title}
      <select
        class="in-t ws-choice"
        value={address.query.get(name) ?? ''}
        onChange={({ currentTarget }) => onChoose(name, currentTarget.value)}
      >
        <option value="">{all}</option>
        {values.map((value) => (
          <option key={value} value={value}>
            {value}
          </option>
        ))}
      </select>
    </label>
  );
}

interface TableProps {
  readonly rows: readonly ModelRow[];
  readonly opened: string | null;
  readonly onToggle: (id: string) => void;
  readonly compared: readonly string[];
  readonly onCompare: (ids: readonly string[]) => void;
  readonly sort: ReturnType<typeof sortOf>;
  readonly onSort: (sort: NonNullable<ReturnType<typeof sortOf>>) => void;
}

function ModelTable({ rows, opened, onToggle, compared, onCompare, sort, onSort }: TableProps) {
  const [isWhole, setWhole] = useState(false);
  const table = useRef<HTMLTableElement>(null);
  const shownColumns = useShownColumns(table, MODEL_COLUMNS.length + 1);
  const drawn = isWhole ? rows : rows.slice(0, FIRST_ROWS);
  return (
    <div class="list keyl">
      <table class="modt" aria-label="Models" ref={table}>
        <colgroup>
          <col class="c-38" />
          {MODEL_COLUMNS.map(({ name, width }) => (
            <col key={name} class={width} />
          ))}
        </colgroup>
        <thead>
          <tr>
            <th>
              <span class="vh">Compare</span>
            </th>
            {MODEL_COLUMNS.map(({ name, title, class: style, sortValue, isNumber }) => {
              const isSorted = sort?.by === name;
              const isDescending = isSorted ? !sort.isDescending : isNumber;
              const direction = sort?.isDescending === true ? 'descending' : 'ascending';
              return (
                <th key={name} class={style} aria-sort={isSorted ? direction : undefined}>
                  {sortValue === undefined ? (
                    title
                  ) : (
                    <button class="th-sort" type="button" onClick={() => onSort({ by: name, isDescending })}>
                      {title}
                      {isSorted && <span aria-hidden="true">{sort.isDescending ? ' ↓' : ' ↑'}</span>}
                    </button>
                  )}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>
          {drawn.map((row) => {
            const { id } = row.model;
            const isOpen = id === opened;
            const isCompared = compared.includes(id);
            return (
              <>
                <tr key={id} class={isOpen ? 'mrow open' : 'mrow'}>
                  <td class="ckc">
                    <input
                      type="checkbox"
                      aria-label={`Compare ${id}`}
                      checked={isCompared}
                      disabled={!isCompared && compared.length >= MAX_COMPARED}
                      onChange={() =>
                        onCompare(isCompared ? compared.filter((each) => each !== id) : [...compared, id])
                      }
                    />
                  </td>
                  {MODEL_COLUMNS.map(({ name, class: style, cell }, place) => (
                    <td key={name} class={style}>
                      {place === 0 ? (
                        <span class="r tight">
                          <button
                            class="tw-b"
                            type="button"
                            aria-expanded={isOpen}
                            aria-label={`Endpoints of ${id}`}
                            onClick={() => onToggle(id)}
                          >
                            <Icon name={isOpen ? 'down' : 'right'} size={14} />
                          </button>
                          {cell(row)}
                        </span>
                      ) : (
                        cell(row)
                      )}
                    </td>
                  ))}
                </tr>
                {isOpen && (
                  <tr class="exp">
                    <td colSpan={shownColumns}>
                      <ModelDetail row={row} />
                    </td>
                  </tr>
                )}
              </>
            );
          })}
        </tbody>
      </table>
      {rows.length > drawn.length && (
        <p class="cut-note">
          The first {count(drawn.length)} of {count(rows.length)} models. Search, or{' '}
          <button class="link" type="button" onClick={() => setWhole(true)}>
            show all
          </button>
          .
        </p>
      )}
    </div>
  );
}

function NoModels({ isNarrowed }: { readonly isNarrowed: boolean }) {
  return isNarrowed ? (
    <Empty title="No model matches">
      <p>Remove the search or a filter.</p>
    </Empty>
  ) : (
    <Empty title="There are no models">
      <p>
        Set the key of a provider in the environment, such as <code>OPENAI_API_KEY</code>, and start the
        gateway again, or list models in the configuration file.
      </p>
    </Empty>
  );
}
