import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type EventsView, eventsView } from '../../control/doctor-view.ts';
import { EVENTS_ADVICE, examineEvents, hadEvents } from '../../examination.ts';
import { countText } from '../../kit/text/count-text.ts';
import { bytesText } from '../terminal/quantities.ts';
import { type CheckFinding, fine, problem, warning } from './finding.ts';
import type { Situation } from './situation.ts';

const FILE = 'events.duckdb';

/** Checks that the events can be read, and counts them. */
export async function checkEvents(situation: Situation): Promise<CheckFinding[]> {
  const { directory, holder, runtime } = situation;
  if (directory.kind !== 'there') return [];
  switch (holder.kind) {
    case 'silent':
      return [warning('not checked: another process has the data directory', null)];
    case 'process':
      return holder.view.events === null
        ? [
            warning(
              'the gateway could not count its events in time',
              'read its log, and run signalbox doctor again',
            ),
          ]
        : [counted(holder.view.events), ...removed(runtime.dataDir)];
    case 'none': {
      const sizes = await examineEvents(join(runtime.dataDir, FILE));
      return [sizes === undefined ? await absent(situation) : counted(eventsView(sizes))];
    }
  }
}

/** A gateway that counted its events has the file open: if it is missing, it was deleted meanwhile. */
function removed(dataDir: string): CheckFinding[] {
  const file = join(dataDir, FILE);
  return existsSync(file)
    ? []
    : [problem(`${file} was deleted while the gateway has it open`, EVENTS_ADVICE)];
}

/** There is no file: it was lost, or there has never been an event. */
async function absent({ runtime, database }: Situation): Promise<CheckFinding> {
  const { dataDir } = runtime;
  const file = join(dataDir, FILE);
  if (hadEvents(dataDir)) return problem(`${file} is missing, although it held events`, EVENTS_ADVICE);
  const facts = (await database.catch(() => undefined))?.facts;
  if (facts?.lastSettledAtMs === undefined && !facts?.hasApps) return fine('none yet');
  return warning(
    `${file} is missing, although there are generations or apps`,
    'the next start rebuilds it from the stored rows of generations; if usage was imported, import it again',
  );
}

function counted(view: EventsView): CheckFinding {
  const { events, daily_rows, bytes } = view;
  return fine(
    `${countText(events, 'event')} and ${countText(daily_rows, 'daily sum')} in ${bytesText(bytes)}`,
    { ...view },
  );
}
