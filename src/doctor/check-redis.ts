import { bytesText, durationText } from '../kit/text/quantities.ts';
import type { RedisFacts } from '../ports/installation/store-facts.ts';
import { type CheckFinding, fine, problem, problemOfText, warning } from './finding.ts';
import { partFindings } from './part-findings.ts';
import type { Situation } from './situation.ts';

/** A slower round trip is a warning: above 100 ms gateways go on without Redis. */
const SLOW_MS = 20;

/** Streams have been read from an exclusive position since this version. */
const LEAST_VERSION = [6, 2] as const;

/** Checks that Redis answers, takes writes and is new enough. No line without one. */
export async function checkRedis({
  stores,
  holder,
}: Pick<Situation, 'stores' | 'holder'>): Promise<CheckFinding[]> {
  const found = await stores.redis();
  if (found === null) return [];
  if (!found.ok) return [problemOfText(found.problem)];
  return [judge(found.facts), ...partFindings(holder, 'redis', SLOW_MEND)];
}

const SLOW_MEND = 'check the load of its server and the network';

function judge({ name, version, roundTripMs, usedBytes, isReplica }: RedisFacts): CheckFinding {
  const what = `Redis ${version} at ${name}: ${bytesText(usedBytes)}, answers in ${durationText(roundTripMs)}`;
  const figures = { round_trip_ms: roundTripMs, bytes: usedBytes };
  if (isOlder(version)) return problem(what, `use Redis ${LEAST_VERSION.join('.')} or newer`, figures);
  if (isReplica) return problem(`${what}; it is a replica`, 'let REDIS_URL lead to the primary', figures);
  if (roundTripMs > SLOW_MS) return warning(what, SLOW_MEND, figures);
  return fine(what, figures);
}

function isOlder(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [leastMajor, leastMinor] = LEAST_VERSION;
  return major < leastMajor || (major === leastMajor && minor < leastMinor);
}
