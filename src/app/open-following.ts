import { DestinationFollowers } from '../broadcast/destination-followers.ts';
import { Following, type FollowingDependencies } from '../following/following.ts';
import type { Log } from '../kit/log/log.ts';
import { programVersion } from '../kit/program-version.ts';
import { systemClock } from '../kit/time/clock.ts';
import { storedTarget } from '../manage/destinations/destination-secrets.ts';
import { keptMs } from '../manage/generations/retention.ts';
import type { Egress } from '../net/egress/egress.ts';
import type { FollowerSource } from '../ports/following/follower.ts';
import type { RunningSettings } from '../settings/running-settings.ts';
import { isDatabaseAway } from '../store/sql/database-unavailable.ts';
import type { Closers } from './closers.ts';
import type { Installation } from './installation.ts';

export type FollowersPace = Pick<FollowingDependencies, 'everyMs' | 'holdMs'>;

export interface FollowingOptions {
  readonly installation: Installation;
  readonly settings: RunningSettings;
  readonly egress: Egress;
  readonly others: readonly FollowerSource[];
  readonly pace: FollowersPace | undefined;
  readonly log: Log;
}

/** Tells followers of settled generations, once it is started. Of the processes of a gateway, its owner does. */
export function openFollowing(
  { installation, settings, egress, others, pace, log }: FollowingOptions,
  closers: Closers,
): Following {
  const { tenancy, vault, changes, settledRows, followerNotes, spooledContents } = installation;
  const spool = () => settings.latest.config.observability.spool;
  const destinations = new DestinationFollowers({
    store: installation.destinationStore,
    tenancy,
    targetOf: (destination) => storedTarget(vault, destination),
    egress,
    bounds: () => ({ maxAgeMs: keptMs(spool().max_days), maxGenerations: spool().max_generations }),
    version: programVersion(),
    clock: systemClock,
    log,
  });
  return closers.add(
    'followers of generations',
    new Following({
      ...pace,
      sources: [destinations, ...others],
      rows: settledRows,
      notes: followerNotes,
      contents: spooledContents,
      changes,
      spoolBounds: () => ({ maxAgeMs: keptMs(spool().max_days), maxBytes: spool().content_bytes }),
      isAway: isDatabaseAway,
      clock: systemClock,
      random: Math.random,
      log,
    }),
  );
}
