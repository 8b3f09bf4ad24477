import { hash } from 'node:crypto';
import { DecryptionProblem } from '../kit/crypto/encrypt.ts';
import type { Log } from '../kit/log/log.ts';
import type { Clock } from '../kit/time/clock.ts';
import type { Egress } from '../net/egress/egress.ts';
import type { Destination, DestinationStore } from '../ports/following/destinations.ts';
import {
  type Follower,
  type FollowerBounds,
  type FollowerSource,
  FollowerWaits,
} from '../ports/following/follower.ts';
import type { Tenancy, Workspace } from '../ports/tenancy/tenancy.ts';
import { destinationFollower, needsKeyNames } from './destination-follower.ts';
import type { DestinationTarget } from './destination-target.ts';
import { keyNamesOf } from './key-names.ts';
import { sendOver } from './writers/send.ts';
import type { Write } from './writers/writer.ts';
import { writerOf } from './writers/writer-of.ts';

export interface DestinationFollowersDependencies {
  readonly store: Pick<DestinationStore, 'listAll'>;
  readonly tenancy: Pick<Tenancy, 'findWorkspaceById' | 'findKey'>;
  /** Where a destination leads, with its secrets. Throws a DecryptionProblem. */
  readonly targetOf: (destination: Destination) => DestinationTarget;
  readonly egress: Egress;
  /** How far each destination may fall behind. */
  readonly bounds: () => FollowerBounds;
  /** Version of the gateway. */
  readonly version: string;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
}

/** Pause between writes, milliseconds: of objects there should be few, and each has a price. */
const REST_MS: Readonly<Record<DestinationTarget['writer'], number>> = { otlp: 0, objects: 10_000, rows: 0 };

/** Minimum time between log messages about rejected spans of a destination, milliseconds. */
const REPORT_MS = 60_000;

/** A follower for each destination that is switched on, in a workspace that broadcasts. */
export class DestinationFollowers implements FollowerSource {
  readonly #dependencies: DestinationFollowersDependencies;
  readonly #keyNames: ReturnType<typeof keyNamesOf>;
  /** Followers by the versions of their destinations, so that rules are compiled once. */
  #made: ReadonlyMap<string, Follower> = new Map();

  constructor(dependencies: DestinationFollowersDependencies) {
    this.#dependencies = dependencies;
    this.#keyNames = keyNamesOf(dependencies);
  }

  async followers(): Promise<readonly Follower[]> {
    const { store } = this.#dependencies;
    const enabled = (await store.listAll()).filter(({ isEnabled }) => isEnabled);
    const workspaces = await this.#workspacesOf(enabled);
    const made = new Map<string, Follower>();
    for (const destination of enabled) {
      const workspace = workspaces.get(destination.workspaceId);
      if (workspace?.isObservabilityBroadcastEnabled !== true) continue;
      const follower = this.#followerOf(destination, workspace);
      made.set(follower.version, follower);
    }
    this.#made = made;
    return [...made.values()];
  }

  async #workspacesOf(destinations: readonly Destination[]): Promise<ReadonlyMap<string, Workspace>> {
    const owners = new Map(destinations.map(({ workspaceId, accountId }) => [workspaceId, accountId]));
    const found = new Map<string, Workspace>();
    for (const [id, accountId] of owners) {
      const workspace = await this.#dependencies.tenancy.findWorkspaceById(accountId, id);
      if (workspace !== undefined) found.set(id, workspace);
    }
    return found;
  }

  #followerOf(destination: Destination, workspace: Workspace): Follower {
    // A follower that is not known yet begins where it was created or switched on, or its workspace was.
    const sinceMs = Math.max(
      destination.updatedAtMs ?? destination.createdAtMs,
      workspace.updatedAtMs ?? workspace.createdAtMs,
    );
    const bounds = this.#dependencies.bounds();
    const version = hash('sha256', JSON.stringify([destination, sinceMs, bounds]));
    const known = this.#made.get(version);
    if (known !== undefined) return known;
    const { write, restMs, isByName } = this.#writing(destination);
    return destinationFollower({
      destination,
      version,
      sinceMs,
      bounds,
      write,
      restMs,
      needsKeyNames: isByName,
      keyNames: this.#keyNames,
    });
  }

  #writing(destination: Destination): {
    readonly write: Write;
    readonly restMs: number;
    readonly isByName: boolean;
  } {
    const { targetOf, egress, version, clock } = this.#dependencies;
    const now = () => clock.now();
    try {
      const target = targetOf(destination);
      const write = writerOf(target, {
        // The file is the operator's own: only it may name private addresses.
        send: sendOver(egress, destination.fileMember !== null, now),
        sent: destination,
        version,
        now,
        onRejected: this.#rejections(destination),
      });
      return { write, restMs: REST_MS[target.writer], isByName: needsKeyNames(destination, target) };
    } catch (problem) {
      if (!(problem instanceof DecryptionProblem)) throw problem;
      const write = async () => {
        throw new FollowerWaits(`its secrets cannot be decrypted: ${problem.message}`);
      };
      return { write, restMs: 0, isByName: false };
    }
  }

  #rejections({ id, workspaceId }: Destination): (spans: number) => void {
    const { clock, log } = this.#dependencies;
    let reportedAt = Number.NEGATIVE_INFINITY;
    let rejected = 0;
    return (spans) => {
      rejected += spans;
      const now = clock.monotonic();
      if (now - reportedAt < REPORT_MS) return;
      reportedAt = now;
      log.warn('a destination took generations and rejected some of their spans', {
        destination: id,
        workspace_id: workspaceId,
        spans: rejected,
      });
      rejected = 0;
    };
  }
}
