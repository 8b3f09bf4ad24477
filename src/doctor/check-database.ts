import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { countText } from '../kit/text/count-text.ts';
import { bytesText, durationText } from '../kit/text/quantities.ts';
import type { DatabaseFacts, PostgresFacts } from '../ports/installation/store-facts.ts';
import { UNRELEASED_ADVICE, UNRELEASED_TEXT } from '../store/sql/schema-state.ts';
import { type CheckFinding, fine, problem, warning } from './finding.ts';
import { partFindings } from './part-findings.ts';
import type { Database, Situation } from './situation.ts';

type Known = Exclude<Database, { kind: 'unknown' }>;

/** A slower round trip is a warning: requests wait for it. */
const SLOW_MS = 500;

/** Checks that the database opens and has the schema of this version. */
export async function checkDatabase(situation: Situation): Promise<CheckFinding[]> {
  const { directory, holder } = situation;
  const found = await situation.database;
  if (found.kind !== 'postgres' && directory.kind !== 'there') return [];
  if (found.kind === 'unknown') return [warning('not checked: DATABASE_URL is invalid', null)];
  if (found.facts === undefined) return [noDatabase(situation)];
  const name = nameOf(found);
  return [
    opened(name, found.facts),
    ...shape(name, found.facts.schema),
    ...pages(found),
    ...(found.kind === 'postgres' ? [connections(found.facts.connections)] : []),
    ...partFindings(holder, 'store', 'the gateway asks it again by itself; read its log if this stays'),
  ];
}

/** Missing or empty: a first start that was interrupted, or a lost database. */
function noDatabase({ runtime: { dataDir }, holder }: Situation): CheckFinding {
  const file = join(dataDir, 'signalbox.sqlite');
  if (existsSync(join(dataDir, 'journal'))) {
    return problem(
      `${file} is ${existsSync(file) ? 'empty' : 'missing'}, although a gateway has run here`,
      'restore the data directory from a backup; without it accounts and keys are lost and the next ' +
        'start makes new ones',
    );
  }
  if (holder.kind === 'none') return fine('none yet; the first start creates it');
  return warning(
    'not checked: the process that has the data directory does not say where its database is',
    'if it waits for PostgreSQL, its log says so; or set DATABASE_URL as for the gateway, and run signalbox doctor again',
  );
}

function nameOf(database: Known): string {
  return database.kind === 'sqlite' ? `SQLite in ${database.file}` : 'PostgreSQL of DATABASE_URL';
}

function opened(name: string, { roundTripMs, bytes }: DatabaseFacts): CheckFinding {
  const figures = { round_trip_ms: roundTripMs, bytes };
  const what = `${name}: ${bytesText(bytes)}, answers in ${durationText(roundTripMs)}`;
  if (roundTripMs <= SLOW_MS) return fine(what, figures);
  return warning(what, 'check the load of its disk, its server and the network', figures);
}

function shape(
  name: string,
  { missing, newer, required, isUnreleased }: DatabaseFacts['schema'],
): CheckFinding[] {
  if (isUnreleased) return [problem(`${name} ${UNRELEASED_TEXT}`, UNRELEASED_ADVICE)];
  if (required.length > 0) {
    return [
      problem(
        `${name} was changed by a release that this one is too old to work beside (it needs ${required.join(', ')})`,
        'start a newer release, or use another database',
      ),
    ];
  }
  if (missing.length > 0) {
    return [
      warning(
        `${name} is of an older version (it lacks ${missing.join(', ')})`,
        'make a backup; signalbox migrate or the next start of this version migrates it',
      ),
    ];
  }
  if (newer.length === 0) return [];
  return [
    fine(`${name} has migrations of a newer release (${newer.join(', ')}), beside which this one works`),
  ];
}

function pages(database: Known): CheckFinding[] {
  const damage = database.kind === 'sqlite' ? database.facts?.pageProblem : undefined;
  if (damage === undefined) return [];
  return [problem(`${nameOf(database)} is damaged: ${damage}`, 'restore the data directory from a backup')];
}

/** Compares what all running gateways, or at least one, may open with what the server allows. */
function connections({ gateways, perGateway, allowed }: PostgresFacts['connections']): CheckFinding {
  const needed = Math.max(gateways, 1) * perGateway;
  const what =
    `${countText(gateways, 'running gateway')}, each with up to ${perGateway} connections; the server allows ` +
    `${allowed}, enough for ${countText(Math.floor(allowed / perGateway), 'gateway')}`;
  const figures = { gateways, connections_per_gateway: perGateway, connections_allowed: allowed };
  if (needed <= allowed) return fine(what, figures);
  return warning(
    what,
    `raise max_connections by at least ${needed - allowed}: under load, statements of a gateway that gets no ` +
      'connection fail',
    figures,
  );
}
