import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type EventsView, eventsView } from '../control/doctor-view.ts';
import { countText } from '../kit/text/count-text.ts';
import { bytesText, durationText } from '../kit/text/quantities.ts';
import type { ClickhouseFacts } from '../ports/installation/store-facts.ts';
import { EVENTS_ADVICE, examineEvents, hadEvents } from '../store/examine/examine-events.ts';
import { type CheckFinding, fine, problem, problemOfText, warning } from './finding.ts';
import { partFindings } from './part-findings.ts';
import type { Situation } from './situation.ts';

const FILE = 'events.duckdb';

/** Checks that the events can be read, and counts them. */
export async function checkEvents(situation: Situation): Promise<CheckFinding[]> {
  const { directory, holder, runtime } = situation;
  if (directory.kind !== 'there') return [];
  const found = await situation.stores.clickhouse();
  if (found?.ok === false) return [problemOfText(found.problem)];
  if (found !== null) return [ofClickhouse(situation, found.facts), ...ofState(holder)];
  switch (holder.kind) {
    case 'silent':
      return [warning('not checked: another process has the data directory', null)];
    case 'unknown':
      return [warning('not checked: the data directory cannot be locked', null)];
    case 'process':
      return holder.view.events === null
        ? [
            warning(
              'the gateway could not count its events in time',
              'read its log, and run signalbox doctor again',
            ),
          ]
        : [counted(holder.view.events), ...removed(runtime.dataDir), ...ofState(holder)];
    case 'none': {
      const sizes = await examineEvents(join(runtime.dataDir, FILE));
      return [sizes === undefined ? await absent(situation) : counted(eventsView(sizes))];
    }
  }
}

/** The events can be read, but the gateway failed to work on them. */
function ofState(holder: Situation['holder']): CheckFinding[] {
  return partFindings(
    holder,
    'events',
    'read its log for why; generations go on, and their events follow when it works again',
  );
}

/** The server was asked anew: a gateway that lacks it only knows that it does not answer. */
function ofClickhouse({ holder }: Situation, { version, roundTripMs, sizes }: ClickhouseFacts): CheckFinding {
  const server = `ClickHouse ${version}, answers in ${durationText(roundTripMs)}`;
  if (sizes === undefined) {
    const hasRun = holder.kind === 'process' && holder.view.server !== null;
    return hasRun
      ? problem(`${server}: it has no tables, although a gateway uses it`, 'read the log of the gateway')
      : fine(`${server}: no tables yet; the first start makes them`);
  }
  const view = eventsView(sizes);
  return fine(`${server}: ${sizesText(view)}`, { ...view, round_trip_ms: roundTripMs });
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
  return fine(sizesText(view), { ...view });
}

function sizesText({ events, daily_rows, bytes }: EventsView): string {
  return `${countText(events, 'event')} and ${countText(daily_rows, 'daily sum')} in ${bytesText(bytes)}`;
}
