import type { Issue } from '../../kit/json/validate.ts';
import type { Line } from '../../kit/text/line-reader.ts';
import type { AppSighting } from '../../ports/events/apps.ts';
import type { GenerationEvent } from '../../ports/events/events.ts';
import { type AppMember, type ImportedApp, ImportedApps } from './imported-app.ts';
import { importedEventOf } from './imported-event.ts';
import { parseUsageLine } from './usage-line.ts';
import { UsageOwners, type UsageScopes } from './usage-owners.ts';

/** A problem of a line. `line` counts from 1. */
export interface BadLine extends Issue {
  readonly line: number;
}

/** Members that are accepted but dropped or shortened. */
export type NotKeptMember = 'session_id' | AppMember;

/** Bad lines that are reported one by one; further ones are only counted. */
const MAX_REPORTED_LINES = 1_000;

/** Turns lines of usage into events, and counts good and bad lines. */
export class UsageIntake {
  readonly #owners: UsageOwners;
  readonly #apps = new ImportedApps();
  /** Apps since the last `takeSightings`, each with the time of its latest line. */
  readonly #seen = new Map<ImportedApp, number>();
  readonly #nowMs: number;
  readonly #badLines: BadLine[] = [];
  readonly #notKept = new Map<NotKeptMember, number>();
  #lines = 0;
  #bad = 0;

  constructor(scopes: UsageScopes, nowMs: number) {
    this.#owners = new UsageOwners(scopes);
    this.#nowMs = nowMs;
  }

  get lines(): number {
    return this.#lines;
  }

  get bad(): number {
    return this.#bad;
  }

  /** The first bad lines. */
  get badLines(): readonly BadLine[] {
    return this.#badLines;
  }

  /** How many lines had members that are not kept. */
  get notKept(): ReadonlyMap<NotKeptMember, number> {
    return this.#notKept;
  }

  /** The event of a line; undefined for a bad one. */
  take(line: Line): GenerationEvent | undefined {
    this.#lines += 1;
    if ('problem' in line) return this.#refuse(line.number, { path: '', message: line.problem });
    const reading = parseUsageLine(line.text, this.#nowMs);
    if (!reading.ok) return this.#refuse(line.number, reading.problem);
    const { line: usage, createdAtMs } = reading;
    const owner = this.#owners.of(usage);
    if ('message' in owner) return this.#refuse(line.number, owner);
    const app = this.#apps.of(usage.app);
    for (const member of app.notKept) this.#leaveOut(member);
    if (usage.session_id !== undefined && usage.session_id !== null) this.#leaveOut('session_id');
    if (createdAtMs > (this.#seen.get(app) ?? 0)) this.#seen.set(app, createdAtMs);
    return importedEventOf({ line: usage, createdAtMs, owner, app });
  }

  /** The apps of the lines since the last call. */
  takeSightings(): AppSighting[] {
    const sightings = [...this.#seen].flatMap(([{ sighting }, atMs]) =>
      sighting ? [{ ...sighting, atMs }] : [],
    );
    this.#seen.clear();
    return sightings;
  }

  #refuse(line: number, { path, message }: Issue): undefined {
    this.#bad += 1;
    if (this.#badLines.length < MAX_REPORTED_LINES) this.#badLines.push({ line, path, message });
  }

  #leaveOut(member: NotKeptMember): void {
    this.#notKept.set(member, (this.#notKept.get(member) ?? 0) + 1);
  }
}
