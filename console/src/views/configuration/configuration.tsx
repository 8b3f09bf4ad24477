import { useQuery } from '@tanstack/preact-query';
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { addressWith, go, useAddress } from '../../address/address.ts';
import type {
  ConfigurationObject,
  ConfigurationProblem,
  ConfigurationValue,
  FindingsObject,
} from '../../api/contract.ts';
import { ask } from '../../api/request.ts';
import { count } from '../../format/numbers.ts';
import { dateTime, relative } from '../../format/times.ts';
import { exactFigure } from '../../parts/exact.ts';
import { Icon } from '../../parts/icon.tsx';
import { SearchBox } from '../../parts/search-box.tsx';
import { Empty, FailureNote, SkeletonRows } from '../../parts/states.tsx';
import { type Column, DataTable } from '../../parts/table/data-table.tsx';
import { sorted, sortOf, sortText } from '../../parts/table/sort.ts';
import { TopBar } from '../../parts/top-bar.tsx';
import { isFrom, rawText, SOURCE_KINDS, sectionsOf, sourceText, valueText } from './value-words.ts';

/** How often the configuration is asked for, milliseconds: a reload shows without a click. */
const EVERY_MS = 10_000;

/** What is in force and where it comes from, what the last reload said, and what doctor finds. */
export function Configuration() {
  const address = useAddress();
  const configuration = useQuery({
    queryKey: ['gateway', 'configuration'],
    queryFn: () => ask<{ data: ConfigurationObject }>('/gateway/configuration'),
    refetchInterval: EVERY_MS,
  });
  const search = (address.query.get('search') ?? '').toLowerCase();
  const source = address.query.get('source');
  const sort = sortOf(address.query.get('sort'));
  const found = configuration.data?.data;
  const rows = useMemo((): readonly Row[] => {
    const wanted = (found?.values ?? []).filter(
      (value) =>
        isFrom(value, source) &&
        `${value.key} ${rawText(value.value)} ${valueText(value)}`.toLowerCase().includes(search),
    );
    if (sort !== null && isSorting(sort.by)) {
      return sorted(wanted, SORT_VALUES[sort.by], sort.isDescending).map((value) => ({ value, prefix: '' }));
    }
    return sectionsOf(wanted).flatMap(({ title, prefix, values }): Row[] => [
      { title },
      ...values.map((value) => ({ value, prefix })),
    ]);
  }, [found, search, source, sort?.by, sort?.isDescending]);
  return (
    <>
      <TopBar title="Configuration" detail={found && `${count(found.total_count)} values`}>
        <SearchBox placeholder="Key or value" />
      </TopBar>
      <search class="filters">
        <div class="seg">
          {[null, ...SOURCE_KINDS].map((kind) => (
            <button
              key={kind}
              type="button"
              aria-pressed={kind === source}
              onClick={() => go(addressWith(address, { source: kind }), { replace: true })}
            >
              {kind === null ? 'All' : kind === 'default' ? 'Defaults' : `From ${kind}`}
            </button>
          ))}
        </div>
        <span class="push sm t3 wide">Secrets are masked.</span>
      </search>
      <main id="main">
        {configuration.isError && (
          <div class="pad">
            <FailureNote error={configuration.error} onRetry={() => configuration.refetch()} />
          </div>
        )}
        {found !== undefined && <LastReload configuration={found} />}
        <Findings />
        {configuration.isPending && <SkeletonRows />}
        {found !== undefined && rows.length === 0 && (
          <Empty title="No value matches">
            <p>
              {count(found.total_count)} values are in force. Remove the search, or choose another source.
            </p>
          </Empty>
        )}
        {found !== undefined && found.values.length < found.total_count && (
          <p class="cut-note">
            The first {count(found.values.length)} of {count(found.total_count)} values.
          </p>
        )}
        {rows.length > 0 && (
          <DataTable
            label="Values in force"
            columns={COLUMNS}
            rows={rows}
            idOf={(row) => ('title' in row ? row.title : row.value.key)}
            headingOf={(row) => ('title' in row ? row.title : null)}
            sort={sort}
            onSort={(next) => go(addressWith(address, { sort: sortText(next) }), { replace: true })}
          />
        )}
      </main>
    </>
  );
}

/** A value, or the heading of the part of the configuration that the values below it belong to. */
type Row = { readonly title: string } | { readonly value: ConfigurationValue; readonly prefix: string };

const SORT_VALUES = {
  key: ({ key }: ConfigurationValue) => key,
  source: ({ source }: ConfigurationValue) => sourceText(source),
};

function isSorting(by: string): by is keyof typeof SORT_VALUES {
  return Object.hasOwn(SORT_VALUES, by);
}

/** A column of values; headings are drawn across all columns. */
function columnOf(
  column: Omit<Column<Row>, 'cell' | 'sortValue'>,
  cell: (value: ConfigurationValue, prefix: string) => ComponentChildren,
): Column<Row> {
  const { name } = column;
  return {
    ...column,
    ...(isSorting(name) && {
      sortValue: (row) => ('title' in row ? row.title : SORT_VALUES[name](row.value)),
    }),
    cell: (row) => ('title' in row ? row.title : cell(row.value, row.prefix)),
  };
}

const COLUMNS: readonly Column<Row>[] = [
  columnOf({ name: 'key', title: 'Key' }, ({ key }, prefix) => (
    <code class="cut" title={key}>
      <span class="dim wide">{prefix}</span>
      {key.slice(prefix.length)}
    </code>
  )),
  columnOf({ name: 'value', title: 'Value' }, (row) => (
    <span class="cut" {...exactFigure(rawText(row.value))}>
      {valueText(row)}
    </span>
  )),
  columnOf({ name: 'source', title: 'Source', priority: 2 }, ({ source }) => (
    <span class={source.kind === 'default' ? 'src dim cut' : 'src cut'} title={sourceText(source)}>
      {sourceText(source)}
    </span>
  )),
];

function LastReload({ configuration }: { readonly configuration: ConfigurationObject }) {
  const { file, last_reload: reload, warnings, in_force_since: since } = configuration;
  const now = Date.now();
  return (
    <section class="pad stack" aria-label="Last reload">
      {reload !== null && !reload.is_accepted && (
        <div class="note bad" role="alert">
          <Icon name="warning" />
          <div class="grow">
            <b>
              The file was refused {relative(Date.parse(reload.at), now)}; the configuration before stays in
              force.
            </b>
            <ProblemList problems={reload.problems} />
            <p>Correct the file: the gateway reads it again by itself. Requests are served as usual.</p>
          </div>
        </div>
      )}
      {reload !== null && reload.waiting_keys.length > 0 && (
        <div class="note warn">
          <Icon name="warning" />
          <span>
            <b>{reload.waiting_keys.join(', ')}</b> changed in the file and need a restart of the gateway.
          </span>
        </div>
      )}
      {warnings.length > 0 && (
        <div class="note warn">
          <Icon name="warning" />
          <div class="grow">
            <b>Settings without effect, or likely mistakes</b>
            <ProblemList problems={warnings} />
          </div>
        </div>
      )}
      <p class="sm t2">
        {file === null ? (
          'There is no configuration file: all values have their defaults.'
        ) : (
          <code>{file}</code>
        )}{' '}
        In force since {dateTime(Date.parse(since))}
        {reload === null
          ? ', as read at the start.'
          : `. Last read ${relative(Date.parse(reload.at), now)}: ${reload.is_accepted ? 'accepted' : 'refused'}.`}
      </p>
    </section>
  );
}

function ProblemList({ problems }: { readonly problems: readonly ConfigurationProblem[] }) {
  return (
    <ul>
      {problems.map(({ path, message, line, hint }, index) => (
        <li key={index}>
          {line !== null && <span class="t3">line {line}: </span>}
          {path !== '' && <code>{path}</code>} {message}
          {hint !== null && <span class="t3">. {hint}</span>}
        </li>
      ))}
    </ul>
  );
}

/** What the checks of doctor found; those that are well are folded into a count. */
function Findings() {
  const findings = useQuery({
    queryKey: ['gateway', 'findings'],
    queryFn: () => ask<{ data: FindingsObject }>('/gateway/findings'),
    staleTime: 60_000,
  });
  if (findings.isError) {
    return (
      <div class="pad">
        <FailureNote error={findings.error} onRetry={() => findings.refetch()} />
      </div>
    );
  }
  const all = findings.data?.data.findings ?? [];
  const wrong = all.filter(({ verdict }) => verdict !== 'ok');
  const well = all.filter(({ verdict }) => verdict === 'ok');
  return (
    <section class="pad stack" aria-label="Findings of doctor">
      <div class="hd">
        <h2>Findings</h2>
        <span class="sm t3">
          {findings.data === undefined
            ? 'Checking'
            : `of doctor, ${relative(Date.parse(findings.data.data.at), Date.now())}`}
        </span>
        <button
          class="b quiet push"
          type="button"
          disabled={findings.isFetching}
          onClick={() => findings.refetch()}
        >
          <Icon name="refresh" size={14} />
          Check again
        </button>
      </div>
      {wrong.length > 0 && (
        <table class="in plain" aria-label="Warnings and problems">
          <tbody>
            {wrong.map(({ check, verdict, what, mend }, index) => (
              <tr key={index}>
                <td class="c-84">
                  <span class={`tag ${verdict === 'problem' ? 'bad' : 'warn'}`}>{verdict}</span>
                </td>
                <td class="find">
                  <span class="t3">{check}:</span> {what}
                  {mend !== null && <span class="t2">. To do: {mend}.</span>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {findings.data !== undefined && (
        <details>
          <summary class="sm t2">
            {wrong.length === 0 ? 'Nothing is wrong. ' : ''}
            {count(well.length)} {well.length === 1 ? 'check is' : 'checks are'} well
          </summary>
          <ul class="sm t3 plain-l">
            {well.map(({ check, what }, index) => (
              <li key={index}>
                {check}: {what}
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}
