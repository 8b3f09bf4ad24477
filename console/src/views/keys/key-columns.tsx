import type { KeyObject, WorkspaceObject } from '../../api/contract.ts';
import { workspaceName } from '../../api/workspaces.ts';
import { shortMoney } from '../../format/money.ts';
import { percent } from '../../format/numbers.ts';
import { dateTime, relative } from '../../format/times.ts';
import { nextReset, PER_WINDOW } from '../../format/windows.ts';
import { BudgetBar } from '../../parts/budget-bar.tsx';
import { exactUsd } from '../../parts/exact.ts';
import { RowMenu } from '../../parts/row-menu.tsx';
import type { Column } from '../../parts/table/data-table.tsx';
import { isNearlyUsedUp, shareOfLimit, spentOfLimit, stateOf, windowOf } from './key-facts.ts';

/** What can be done with a key from its row. */
export interface KeyActions {
  readonly edit: (key: KeyObject) => void;
  readonly setDisabled: (key: KeyObject, isDisabled: boolean) => void;
  readonly revoke: (key: KeyObject) => void;
}

export function keyColumns(
  workspaces: readonly WorkspaceObject[] | undefined,
  nowMs: number,
  reserved: (payer: { readonly key: string }) => number,
  actions: KeyActions,
): readonly Column<KeyObject>[] {
  return [
    {
      name: 'name',
      title: 'Name',
      width: 'c-240',
      sortValue: ({ name }) => name,
      cell: (key) => (
        <span class="r">
          <b class="cut" title={key.name}>
            {key.name}
          </b>
          <StateTag row={key} nowMs={nowMs} />
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
      cell: (key) => <SpentOfLimit row={key} reservedUsd={reserved({ key: key.hash })} />,
    },
    {
      name: 'resets',
      title: 'Resets',
      width: 'c-120',
      priority: 3,
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
      sortValue: (key) => key.usage_daily + key.byok_usage_daily,
      cell: (key) => <Sum usd={key.usage_daily + key.byok_usage_daily} />,
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
        <span class="dim" title={at === null ? undefined : dateTime(Date.parse(at))}>
          {at === null ? 'never' : relative(Date.parse(at), nowMs)}
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

/** A sum; nothing is quieter, and copying gives nine places. */
function Sum({ usd }: { readonly usd: number }) {
  return (
    <span class={usd === 0 ? 'dim' : undefined} {...exactUsd(usd)}>
      {usd === 0 ? '$0' : shortMoney(usd)}
    </span>
  );
}

function StateTag({ row, nowMs }: { readonly row: KeyObject; readonly nowMs: number }) {
  const state = stateOf(row, nowMs);
  return (
    <>
      {state === 'disabled' && <span class="tag">disabled</span>}
      {state === 'expired' && <span class="tag bad">expired</span>}
      {state === 'used-up' && <span class="tag bad">limit used up</span>}
      {state === 'active' && isNearlyUsedUp(row) && (
        <span class="tag warn">{percent(shareOfLimit(row) ?? 0, 0)}</span>
      )}
      {row.managed_by === 'file' && <span class="tag line">file</span>}
    </>
  );
}

function SpentOfLimit({ row, reservedUsd }: { readonly row: KeyObject; readonly reservedUsd: number }) {
  const spent = spentOfLimit(row);
  return (
    <div class="bud">
      <div class="r between">
        <span {...exactUsd(spent)}>{shortMoney(spent)}</span>
        <span class="dim">
          {row.limit === null ? (
            'no limit'
          ) : (
            <>
              of {shortMoney(row.limit)} <span class="wide">{PER_WINDOW[windowOf(row)]}</span>
            </>
          )}
        </span>
      </div>
      {row.limit !== null && <BudgetBar spentUsd={spent} limitUsd={row.limit} reservedUsd={reservedUsd} />}
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
