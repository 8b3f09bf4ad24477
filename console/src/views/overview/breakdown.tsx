import { addressWith, go, useAddress } from '../../address/address.ts';
import { Link } from '../../address/link.tsx';
import type { Overview, OverviewDimension, OverviewSums } from '../../api/contract.ts';
import { useCurrentKey } from '../../api/current-key.ts';
import { change, percent } from '../../format/numbers.ts';
import { OTHER_SWATCH } from '../../parts/chart/time-chart.tsx';
import { Icon } from '../../parts/icon.tsx';
import { exactValue, type OverviewMetric } from './overview-metrics.ts';

const TABS: readonly (readonly [OverviewDimension, title: string, plural: string, isForAnyKey: boolean])[] = [
  ['model', 'Model', 'models', true],
  ['provider', 'Provider', 'providers', true],
  ['key', 'Key', 'keys', false],
  ['workspace', 'Workspace', 'workspaces', false],
  ['app', 'App', 'apps', true],
];

/** The name of a group; of a model without its author. */
export function shortName(by: OverviewDimension, { name }: { readonly name: string }): string {
  return by === 'model' ? name.slice(name.indexOf('/') + 1) : name;
}

interface Props {
  readonly overview: Overview;
  readonly metric: OverviewMetric;
  readonly swatches: ReadonlyMap<string | null, string>;
  readonly onPick: (id: string | null, isShift: boolean) => void;
  /** The address of a group's generations in the log. */
  readonly logOf: (id: string) => string;
}

/** The groups with their value, share and change. A click filters by one. */
export function Breakdown({ overview, metric, swatches, onPick, logOf }: Props) {
  const { by, groups, group_count: all, now, before } = overview;
  const [, , plural = ''] = TABS.find(([name]) => name === by) ?? [];
  const first = groups.slice(0, swatches.size);
  const { sum } = metric;
  const others = all - first.length;
  const rest = (of: 'now' | 'before', whole: OverviewSums): number =>
    sum === null ? 0 : whole[sum] - first.reduce((left, group) => left + group[of][sum], 0);
  const figures = [...first.map((group) => group.now[metric.figure]), rest('now', now)];
  const format = metric.notation.column(figures.flatMap((value) => value ?? []));
  const shown = { metric, format };
  return (
    <>
      <Tabs by={by} />
      <table class="brk">
        <colgroup>
          <col />
          <col class="c-78" />
          <col class="c-60" />
          <col class="c-56" />
          <col class="c-32" />
        </colgroup>
        <thead>
          <tr>
            <th>
              <span class="vh">{by}</span>
            </th>
            <th class="num">{metric.detail === undefined ? metric.title : metric.detail}</th>
            <th class="num">Share</th>
            <th class="num">Change</th>
            <th>
              <span class="vh">Log</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {first.map((group) => (
            <tr key={group.id}>
              <td class="cut">
                <button
                  class="r pickable"
                  type="button"
                  title={`${group.name}: filter by it; with ⇧ open the log`}
                  onClick={(event) => onPick(group.id, event.shiftKey)}
                >
                  <span class={`swatch ${swatches.get(group.id) ?? OTHER_SWATCH}`} />
                  <span class="cut">{shortName(by, group)}</span>
                </button>
              </td>
              <Values
                {...shown}
                value={group.now[metric.figure]}
                before={sum && group.before[sum]}
                whole={sum && now[sum]}
              />
              <td class="to-log">
                {group.id !== null && (
                  <Link
                    class="b quiet ico"
                    href={logOf(group.id)}
                    aria-label={`Log of ${group.name}`}
                    title="Its generations in the log"
                  >
                    <Icon name="log" size={14} />
                  </Link>
                )}
              </td>
            </tr>
          ))}
          {others > 0 && (
            <tr>
              <td class="cut">
                <span class="r">
                  <span class={`swatch ${OTHER_SWATCH}`} />
                  <span class="cut">
                    {others} other {others === 1 ? by : plural}
                  </span>
                </span>
              </td>
              {sum === null ? (
                <td colSpan={3} />
              ) : (
                <Values {...shown} value={rest('now', now)} before={null} whole={now[sum]} />
              )}
              <td />
            </tr>
          )}
        </tbody>
        <tfoot>
          <tr>
            <td>All {plural}</td>
            <Values {...shown} value={now[metric.figure]} before={sum && before[sum]} whole={null} />
            <td />
          </tr>
        </tfoot>
      </table>
    </>
  );
}

function Tabs({ by }: { readonly by: OverviewDimension }) {
  const address = useAddress();
  const { is_management_key: isAccount } = useCurrentKey();
  return (
    <div class="hd">
      <fieldset class="by" aria-label="Break down by">
        {TABS.filter(([, , , isForAnyKey]) => isAccount || isForAnyKey).map(([name, title]) => (
          <button
            key={name}
            type="button"
            aria-pressed={name === by}
            onClick={() =>
              go(addressWith(address, { by: name === 'model' ? null : name }), { replace: true })
            }
          >
            {title}
          </button>
        ))}
      </fieldset>
    </div>
  );
}

interface ValueProps {
  readonly metric: OverviewMetric;
  /** Writes the figures of the column. */
  readonly format: (value: number) => string;
  readonly value: number | null;
  /** Null = not known. */
  readonly before: number | null;
  /** What the share is of; null = none. */
  readonly whole: number | null;
}

function Values({ metric, format, value, before, whole }: ValueProps) {
  const share = whole === null || whole === 0 || value === null ? null : value / whole;
  return (
    <>
      <td class="num" {...(value !== null && exactValue(metric, value))}>
        {value === null ? '–' : format(value)}
      </td>
      <td class="num dim">{share === null ? '' : percent(share)}</td>
      <td class="num dim">{before === null || value === null ? '' : change(value, before)}</td>
    </>
  );
}
