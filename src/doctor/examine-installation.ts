import type { Flags } from '../config/runtime.ts';
import { isInTime } from '../kit/loop/is-in-time.ts';
import { checkCatalogue } from './check-catalogue.ts';
import { checkClocks } from './check-clocks.ts';
import { checkConfiguration } from './check-configuration.ts';
import { checkDataDirectory } from './check-data-directory.ts';
import { checkDatabase } from './check-database.ts';
import { checkDiskUse } from './check-disk-use.ts';
import { checkEvents } from './check-events.ts';
import { checkFiles } from './check-files.ts';
import { checkLedger } from './check-ledger.ts';
import { checkProviders } from './check-providers.ts';
import { checkRedis } from './check-redis.ts';
import { checkSecrets } from './check-secrets.ts';
import { checkServer } from './check-server.ts';
import { type CheckFinding, problem, problemOf } from './finding.ts';
import { findSituation, type Situation } from './situation.ts';

export interface NamedFinding extends CheckFinding {
  readonly check: string;
}

interface Check {
  readonly name: string;
  readonly look: (situation: Situation) => Promise<CheckFinding[]>;
  /** Reads files under the lock of the data directory, which is held until it ends. */
  readonly needsDirectory?: true;
  /** Cheap enough for a serving process: it reads no database and no large file. */
  readonly runsInside?: true;
}

/** All checks, in the order of the report. They are independent of each other. */
const CHECKS: readonly Check[] = [
  { name: 'configuration', look: checkConfiguration, runsInside: true },
  { name: 'data directory', look: checkDataDirectory, runsInside: true },
  { name: 'disk', look: checkDiskUse },
  { name: 'secrets', look: checkSecrets },
  { name: 'database', look: checkDatabase },
  { name: 'redis', look: checkRedis, runsInside: true },
  { name: 'ledger', look: checkLedger, needsDirectory: true, runsInside: true },
  { name: 'events', look: checkEvents, needsDirectory: true, runsInside: true },
  { name: 'files', look: checkFiles },
  { name: 'catalogue', look: checkCatalogue, runsInside: true },
  { name: 'providers', look: checkProviders, runsInside: true },
  { name: 'clocks', look: checkClocks, runsInside: true },
  { name: 'server', look: checkServer, runsInside: true },
];

/** Time limit of a check, milliseconds. */
const CHECK_MS = 10_000;

/** Runs all checks concurrently. Problems are findings, never rejections. */
export async function examineInstallation(flags: Flags): Promise<NamedFinding[]> {
  const situation = await findSituation(flags);
  const looks = CHECKS.map((check) => ({ check, findings: findingsOf(check, situation) }));
  const ofDirectory = looks.filter(({ check }) => check.needsDirectory).map(({ findings }) => findings);
  void Promise.all(ofDirectory).finally(() => situation.close());
  return named(looks);
}

/** Runs the checks that a serving process can run on itself. */
export function examineServing(situation: Situation): Promise<NamedFinding[]> {
  const inside = CHECKS.filter(({ runsInside }) => runsInside);
  return named(inside.map((check) => ({ check, findings: findingsOf(check, situation) })));
}

interface Look {
  readonly check: Check;
  readonly findings: Promise<CheckFinding[]>;
}

async function named(looks: readonly Look[]): Promise<NamedFinding[]> {
  const found = await Promise.all(
    looks.map(async ({ check, findings }) =>
      (await findings).map((finding) => ({ check: check.name, ...finding })),
    ),
  );
  return found.flat();
}

async function findingsOf({ look }: Check, situation: Situation): Promise<CheckFinding[]> {
  let findings: CheckFinding[] = [];
  try {
    const looked = look(situation).then((found) => {
      findings = found;
    });
    if (await isInTime(looked, CHECK_MS)) return findings;
    return [problem(`took longer than ${CHECK_MS / 1000} s`, 'check the load of its disk or server')];
  } catch (error) {
    return [problemOf(error)];
  }
}
