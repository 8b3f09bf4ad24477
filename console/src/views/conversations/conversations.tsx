import { addressWith, go, useAddress } from '../../address/address.ts';
import { useCurrentKey } from '../../api/current-key.ts';
import { count } from '../../format/numbers.ts';
import { dateTime } from '../../format/times.ts';
import { FilterBar } from '../../parts/filters/filter-bar.tsx';
import { RangePicker, useRange } from '../../parts/range/range-picker.tsx';
import { SearchBox } from '../../parts/search-box.tsx';
import { Empty, FailureNote, SkeletonRows } from '../../parts/states.tsx';
import { DataTable } from '../../parts/table/data-table.tsx';
import { OrderChoice } from '../../parts/table/order-choice.tsx';
import type { Sort } from '../../parts/table/sort.ts';
import { TopBar } from '../../parts/top-bar.tsx';
import { logParameters } from '../log/log-fields.ts';
import { conversationColumns } from './conversation-columns.tsx';
import {
  CONVERSATION_ORDERS,
  conversationFields,
  conversationOrder,
  conversationOrderText,
  logOfConversation,
} from './conversation-fields.ts';
import { useConversations } from './use-conversations.ts';

/** Generations with the same session id, with what each of these conversations cost. A row leads to its log. */
export function Conversations() {
  const address = useAddress();
  const isManagement = useCurrentKey().is_management_key;
  const range = useRange();
  const fields = conversationFields(isManagement);
  const parameters = logParameters(address.query, fields);
  const order = conversationOrder(address.query);
  const read = useConversations(range, parameters, order);
  const { conversations, missingBefore } = read;
  const choose = (chosen: Sort): void => go(addressWith(address, { sort: conversationOrderText(chosen) }));
  const detail = `${count(conversations.length)}${read.hasMore ? '+' : ''}`;
  return (
    <>
      <TopBar title="Conversations" detail={read.isPending || read.error !== null ? undefined : detail}>
        <RangePicker />
      </TopBar>
      <FilterBar
        fields={fields}
        before={
          <>
            <OrderChoice orders={CONVERSATION_ORDERS} order={order} onChoose={choose} />
            <SearchBox placeholder="Part of a session id" />
          </>
        }
      />
      <main id="main">
        {read.error !== null && (
          <div class="pad">
            <FailureNote error={read.error} onRetry={read.retry} />
          </div>
        )}
        {missingBefore !== null && (
          <p class="cut-note">
            Generations before {dateTime(Date.parse(missingBefore))} are no longer kept one by one.
          </p>
        )}
        {read.isPending && <SkeletonRows />}
        {!read.isPending && read.error === null && conversations.length === 0 && (
          <NoConversations isNarrowed={Object.keys(parameters).length > 0} />
        )}
        {conversations.length > 0 && (
          <DataTable
            label="Conversations"
            columns={conversationColumns(conversations, Date.now())}
            rows={conversations}
            idOf={({ workspace_id: workspace, session_id: session }) => `${workspace} ${session}`}
            rowHeight={46}
            sort={order}
            onSort={choose}
            onOpen={(row) => go(logOfConversation(row, address.query, isManagement))}
            onEnd={read.readMore}
          />
        )}
        {read.isReadingMore && <SkeletonRows count={4} />}
      </main>
    </>
  );
}

function NoConversations({ isNarrowed }: { readonly isNarrowed: boolean }) {
  const { path } = useAddress();
  if (isNarrowed) {
    return (
      <Empty title="No conversation matches these filters">
        <p>Remove a filter, or choose a longer range.</p>
        <button class="b" type="button" onClick={() => go(path)}>
          Remove all filters
        </button>
      </Empty>
    );
  }
  return (
    <Empty title="No conversations in this range">
      <p>
        Generations that name the same session are one conversation: <code>session_id</code> in the body, or
        the header <code>x-session-id</code>. What each cost, how long it took and how often it failed is
        shown here.
      </p>
    </Empty>
  );
}
