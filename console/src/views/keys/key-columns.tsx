import type { KeyObject, WorkspaceObject } from '../../api/contract.ts';
import { workspaceName } from '../../api/workspaces.ts';
import { limitColumn, moneyColumn, type ShownMoney } from '../../format/money.ts';
import { usedPercent } from '../../format/numbers.ts';
import { date, datedTime, dateTime, relative } from '../../format/times.ts';
import { nextReset, PER_WINDOW } from '../../format/windows.ts';
import { BudgetBar } from '../../parts/budget-bar.tsx';
import { MoneyText } from '../../parts/money-text.tsx';
import { RowMenu } from '../../parts/row-menu.tsx';
import type { Column } from '../../parts/table/data-table.tsx';
import { isNearlyUsedUp, shareOfLimit, spentOfLimit, stateOf, windowOf } from './key-facts.ts';

/** What can be done with a key from its row. */
export interface KeyActions {
  readonly edit: (key: KeyObject) => void;
  readonly setDisabled: (key: KeyObject, isDisabled: boolean) => void;
  readonly revoke: (key: KeyObject) => void;
}

/** What the cells of all rows depend on. */
interface KeyTable {
  /** All rows, by which amounts get their number of decimals. */
  readonly keys: readonly KeyObject[];
  readonly workspaces: readonly WorkspaceObject[] | undefined;
  /** Hashes of the keys whose limit refuses requests now. */
  readonly refusing: ReadonlySet<string>;
  readonly reserved: (payer: { readonly key: string }) => number;
  readonly nowMs: number;
}

const spentToday = (key: KeyObject): number => key.usage_daily + key.byok_usage_daily;

export function keyColumns(
  { keys, workspaces, refusing, reserved, nowMs }: KeyTable,
  actions: KeyActions,
): readonly Column<KeyObject>[] {
  const spent = moneyColumn(keys.map(spentOfLimit));
  const limit = limitColumn(keys.flatMap((key) => key.limit ?? []));
  const today = moneyColumn(keys.map(spentToday));
  return [
    {
      name: 'name',
      title: 'Name',
      width: 'c-240',
      sortValue: ({ name }) => name,
      cell: (key) => (
        <span class="r tagged">
          <b class="cut" title={key.name}>
            {key.name}
          </b>
          <StateTag row={key} nowMs={nowMs} isRefusing={refusing.has(key.hash)} />
        </span>
      ),
    },
    {
      name: 'key',
      title: 'Key',
      width: 'c-120',
      priority: 2,
      cell: ({ label, hash }) => (
        <code class="dim" title={`Hash ${hash}`}>
          {label}
        </code>
      ),
    },
    {
      name: 'workspace',
      title: 'Workspace',
      width: 'c-150',
      priority: 2,
      sortValue: (key) => workspaceName(workspaces, key.workspace_id),
      cell: (key) => workspaceName(workspaces, key.workspace_id),
    },
    {
      name: 'spent',
      title: 'Spent of limit',
      isLargestFirst: true,
      sortValue: (key) => spentOfLimit(key),
      cell: (key) => (
        <SpentOfLimit
          row={key}
          spent={spent(spentOfLimit(key))}
          limit={limit}
          reservedUsd={reserved({ key: key.hash })}
          isRefusing={refusing.has(key.hash)}
        />
      ),
    },
    {
      name: 'resets',
      title: 'Resets',
      width: 'c-120',
      priority: 4,
      cell: (key) => {
        const resetMs = key.limit === null ? null : nextReset(windowOf(key), nowMs);
        return <span class="dim">{resetMs === null ? '–' : dateTime(resetMs)}</span>;
      },
    },
    {
      name: 'today',
      title: 'Today',
      width: 'c-92',
      priority: 3,
      isNumber: true,
      sortValue: spentToday,
      cell: (key) => <MoneyText money={today(spentToday(key))} />,
    },
    {
      name: 'used',
      title: 'Last used',
      width: 'c-120',
      priority: 2,
      isLargestFirst: true,
      sortValue: ({ last_used_at: at }) => (at === null || at === undefined ? null : Date.parse(at)),
      cell: (key) => <LastUse row={key} nowMs={nowMs} />,
    },
    {
      name: 'expires',
      title: 'Expires',
      width: 'c-104',
      priority: 3,
      sortValue: ({ expires_at: at }) => (at === null ? null : Date.parse(at)),
      cell: ({ expires_at: at }) => (
        <span class="dim" title={at === null ? undefined : expiryHint(Date.parse(at), nowMs)}>
          {at === null ? 'never' : date(Date.parse(at))}
        </span>
      ),
    },
    {
      name: 'actions',
      title: 'Actions',
      isTitleHidden: true,
      width: 'c-72',
      cell: (key) => <Actions row={key} actions={actions} />,
    },
  ];
}

/** When a key was last used, as far as generations are kept. Dash = the gateway could not say. */
function LastUse({ row, nowMs }: { readonly row: KeyObject; readonly nowMs: number }) {
  const { last_used_at: at, usage, byok_usage: byok } = row;
  if (at === undefined) return <span class="dim">–</span>;
  if (at === null) {
    return (
      <span class="dim" title="No generation of it is kept.">
        {usage + byok > 0 ? 'long ago' : 'never'}
      </span>
    );
  }
  return <span title={dateTime(Date.parse(at))}>{relative(Date.parse(at), nowMs)}</span>;
}

function expiryHint(atMs: number, nowMs: number): string {
  return `${datedTime(atMs)}, ${relative(atMs, nowMs)}`;
}

interface StateTagProps {
  readonly row: KeyObject;
  readonly nowMs: number;
  readonly isRefusing: boolean;
}

function StateTag({ row, nowMs, isRefusing }: StateTagProps) {
  const state = stateOf(row, nowMs);
  const isNearlyOver = isRefusing || isNearlyUsedUp(row);
  return (
    <>
      {state === 'disabled' && <span class="tag">disabled</span>}
      {state === 'expired' && <span class="tag bad">expired</span>}
      {state === 'used-up' && <span class="tag bad">limit used up</span>}
      {state === 'active' && isNearlyOver && (
        <span
          class={`tag ${isRefusing ? 'bad' : 'warn'}`}
          title={
            isRefusing
              ? 'In the last 15 minutes requests got 402: what is left did not pay for them.'
              : undefined
          }
        >
          {usedPercent(shareOfLimit(row) ?? 0)}
          {isRefusing && ', refusing'}
        </span>
      )}
      {row.managed_by === 'file' && <span class="tag line">file</span>}
    </>
  );
}

interface SpentProps {
  readonly row: KeyObject;
  readonly spent: ShownMoney;
  readonly limit: (usd: number) => string;
  readonly reservedUsd: number;
  readonly isRefusing: boolean;
}

function SpentOfLimit({ row, spent, limit, reservedUsd, isRefusing }: SpentProps) {
  return (
    <div class="bud">
      <div class="r between">
        <MoneyText money={spent} />
        <span class="dim">
          {row.limit === null ? (
            'no limit'
          ) : (
            <>
              of {limit(row.limit)} <span class="wide">{PER_WINDOW[windowOf(row)]}</span>
            </>
          )}
        </span>
      </div>
      {row.limit !== null && (
        <BudgetBar
          spentUsd={spentOfLimit(row)}
          limitUsd={row.limit}
          reservedUsd={reservedUsd}
          isRefusing={isRefusing}
        />
      )}
    </div>
  );
}

function Actions({ row, actions }: { readonly row: KeyObject; readonly actions: KeyActions }) {
  const log = { title: 'Show its requests', run: `/log?key=${row.hash}` };
  const open = { title: row.managed_by === 'file' ? 'Show' : 'Edit', run: () => actions.edit(row) };
  if (row.managed_by === 'file') return <RowMenu of={row.name} actions={[open, log]} />;
  return (
    <RowMenu
      of={row.name}
      actions={[
        open,
        log,
        row.disabled
          ? { title: 'Enable', run: () => actions.setDisabled(row, false) }
          : { title: 'Disable', run: () => actions.setDisabled(row, true) },
        { title: 'Revoke', run: () => actions.revoke(row) },
      ]}
    />
  );
}
