import { join } from 'node:path';
import { type EventsView, eventsView } from '../../control/doctor-view.ts';
import { examineEvents } from '../../examination.ts';
import { type Finding, fine, warning } from './finding.ts';
import { bytesText, countText } from './quantities.ts';
import type { Situation } from './situation.ts';

/** Whether the events can be read, and how many there are. */
export async function checkEvents({ directory, holder, runtime }: Situation): Promise<Finding[]> {
  if (directory.kind !== 'there') return [];
  switch (holder.kind) {
    case 'silent':
      return [warning('not looked at, because another process has the data directory', null)];
    case 'process':
      return [
        holder.view.events === null
          ? warning('the gateway could not count its events in time', 'see its log, and try again')
          : counted(holder.view.events),
      ];
    case 'nobody': {
      const sizes = await examineEvents(join(runtime.dataDir, 'events.duckdb'));
      return [sizes === undefined ? fine('there are none yet') : counted(eventsView(sizes))];
    }
  }
}

function counted(view: EventsView): Finding {
  const { events, daily_rows, bytes } = view;
  return fine(
    `${countText(events, 'event')} and ${countText(daily_rows, 'daily sum')} in ${bytesText(bytes)}`,
    { ...view },
  );
}
