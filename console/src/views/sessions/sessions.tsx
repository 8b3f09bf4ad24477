import { useQuery, useQueryClient } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import type { SessionObject } from '../../api/contract.ts';
import { ask, send } from '../../api/request.ts';
import { browserName } from '../../format/browser-name.ts';
import { dateTime, relative } from '../../format/times.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { FailureNote, SkeletonRows } from '../../parts/states.tsx';
import { toast } from '../../parts/toast.tsx';
import { TopBar } from '../../parts/top-bar.tsx';

/** Browsers that are signed in, and the button that ends a session. */
export function Sessions() {
  const queries = useQueryClient();
  const [ending, setEnding] = useState<SessionObject | null>(null);
  const sessions = useQuery({
    queryKey: ['sessions'],
    queryFn: () => ask<{ data: SessionObject[] }>('/sessions'),
  });
  const end = async (session: SessionObject): Promise<void> => {
    await send(`/sessions/${session.id}`, { method: 'DELETE' });
    toast('The session has ended.');
    await queries.invalidateQueries({ queryKey: ['sessions'] });
  };
  return (
    <>
      <TopBar title="Signed-in browsers" detail={sessions.data?.data.length} />
      <main id="main">
        {sessions.isError && (
          <div class="pad">
            <FailureNote error={sessions.error} onRetry={() => sessions.refetch()} />
          </div>
        )}
        {sessions.isPending && <SkeletonRows />}
        {sessions.data !== undefined && <SessionTable sessions={sessions.data.data} onEnd={setEnding} />}
      </main>
      {ending !== null && (
        <Confirm
          title="End this session?"
          action="End session"
          keep="Keep it"
          onConfirm={() => end(ending)}
          onClose={() => setEnding(null)}
        >
          <p>
            The browser at <code>{ending.address}</code> has to sign in again with its next request. The key
            itself stays valid: to stop that too, revoke it under Keys.
          </p>
        </Confirm>
      )}
    </>
  );
}

interface TableProps {
  readonly sessions: readonly SessionObject[];
  readonly onEnd: (session: SessionObject) => void;
}

function SessionTable({ sessions, onEnd }: TableProps) {
  const now = Date.now();
  return (
    <div class="tw">
      <table>
        <thead>
          <tr>
            <th>Signed in</th>
            <th class="wide">Browser</th>
            <th>Address</th>
            <th class="wide">Key</th>
            <th>Last seen</th>
            <th class="wide">Ends</th>
            <th>
              <span class="vh">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {sessions.map((session) => (
            <tr key={session.id}>
              <td class="nw">{dateTime(Date.parse(session.created_at))}</td>
              <td class="cut wide" title={session.user_agent ?? undefined}>
                {session.user_agent === null ? '–' : browserName(session.user_agent)}
              </td>
              <td class="mono">{session.address}</td>
              <td class="wide" title={session.key_hash}>
                {session.key_name ?? <code>{session.key_hash.slice(0, 8)}…</code>}
              </td>
              <td class="nw">
                {session.is_current ? (
                  <span class="tag ok">this browser</span>
                ) : (
                  relative(Date.parse(session.last_seen_at), now)
                )}
              </td>
              <td class="nw wide">{relative(Date.parse(session.expires_at), now)}</td>
              <td class="num">
                <button class="b quiet" type="button" onClick={() => onEnd(session)}>
                  End
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
