import { isJsonObject } from '../../kit/json/json.ts';
import { type Issue, MISSING_FIELD, type Validator } from '../../kit/json/validate.ts';
import type { Problem } from '../problem.ts';
import type { Config } from '../schema/schema.ts';
import { pathOf } from './environment.ts';
import { type Segment, segmentsOf } from './schema-at.ts';

/** Rounds after which no sound part is looked for any more: each removes one level of required members. */
const MAX_ROUNDS = 8;

/** The part of a file in which the schema finds nothing wrong, and what was left out of it. */
export interface SoundPart {
  readonly value: unknown;
  /** Paths in the file. */
  readonly removed: readonly string[];
}

/**
 * Removes what issues name from a value, until it is valid: the member itself, or the section that
 * lacks a required member. So the checks beyond the schema can run on the rest, and one run reports all problems.
 * Undefined if nothing is left.
 */
export function soundPart(
  value: unknown,
  issues: readonly Issue[],
  validator: Validator,
  fillDefaults: (value: unknown) => unknown,
): SoundPart | undefined {
  const removed = new RemovedPlaces([]);
  let [rest, wrong] = [value, issues];
  for (let round = 0; wrong.length > 0; round++) {
    if (round === MAX_ROUNDS) return undefined;
    const trails = [...new Set(wrong.map(removablePath))].map(segmentsOf).sort(lastFirst);
    if (trails.some((trail) => trail.length === 0)) return undefined;
    const paths = trails.map((trail) => removed.inFile(trail));
    rest = fillDefaults(trails.reduce(without, rest));
    for (const path of paths) removed.add(path);
    wrong = validator.issuesOf(rest);
  }
  return { value: rest, removed: removed.paths };
}

/** Places that were removed from a file; finds the original places of the rest. */
export class RemovedPlaces {
  readonly #trails: (readonly Segment[])[];

  constructor(paths: readonly string[]) {
    this.#trails = paths.map(segmentsOf);
  }

  get paths(): readonly string[] {
    return this.#trails.map(pathOf);
  }

  add(trail: readonly Segment[]): void {
    this.#trails.push(trail);
  }

  /** The path in the file of a path in the rest: items of a list that were left out count again. */
  inFile(trail: readonly Segment[]): Segment[] {
    const found: Segment[] = [];
    for (const segment of trail)
      found.push(typeof segment === 'number' ? this.#index(found, segment) : segment);
    return found;
  }

  /** A problem of the rest, with the paths of the file in its message too. */
  inWholeFile(problem: Problem): Problem {
    if (this.#trails.length === 0) return problem;
    const inFile = (path: string) => pathOf(this.inFile(segmentsOf(path)));
    const { path, neededPath, message } = problem;
    return {
      ...problem,
      path: inFile(path),
      ...(neededPath !== undefined && { neededPath: inFile(neededPath) }),
      message: message.replace(/[a-z_]+\[\d+\][\w.[\]]*/g, inFile),
    };
  }

  #index(list: readonly Segment[], index: number): number {
    const gone = this.#trails
      .filter((trail) => trail.length === list.length + 1 && isWithin(trail, list))
      .map((trail) => Number(trail.at(-1)))
      .sort((one, other) => one - other);
    return gone.reduce((at, removed) => (removed <= at ? at + 1 : at), index);
  }
}

/** Places that name something by its slug, name or hash, and where that is. */
const REFERENCES: readonly (readonly [from: RegExp, to: RegExp])[] = [
  [/provider[^.]*$/, /^providers(?:\[\d+\])?$/],
  [/\.guardrails\[\d+\]\.keys/, /^workspaces\[\d+\]\.keys/],
  [/^plugins\.web\.default$/, /^plugins\.web\.engines/],
];

/** The part of a configuration that the checks beyond the schema can run on. */
export class SoundConfig {
  readonly config: Config;
  readonly #file: unknown;
  readonly #removed: RemovedPlaces;
  readonly #reported: (readonly Segment[])[] = [];

  /** `file`: what the file sets. `removed`: what the configuration lacks of it. */
  constructor(config: Config, file: unknown, removed: RemovedPlaces) {
    this.config = config;
    this.#file = file;
    this.#removed = removed;
  }

  /** Remembers the places of problems in the file, so that `further` leaves out what may follow from them. */
  report(problems: readonly Problem[]): void {
    for (const { path, meantPath } of problems) {
      this.#reported.push(segmentsOf(path));
      if (meantPath !== undefined) this.#reported.push(segmentsOf(meantPath));
    }
  }

  /** The problems of the configuration that do not follow from those of before, with their paths in the file. */
  further(problems: readonly Problem[]): Problem[] {
    return problems
      .map((problem) => this.#removed.inWholeFile(problem))
      .filter(
        ({ path, neededPath = path }) => this.#isNew(segmentsOf(path)) && this.#isNew(segmentsOf(neededPath)),
      );
  }

  /**
   * False for a problem at, below or around a reported place, for a missing member of a section with a reported one
   * (which may be the member, misspelt), and for a reference to something that was reported or left out.
   */
  #isNew(trail: readonly Segment[]): boolean {
    const path = pathOf(trail);
    const known = [...this.#removed.paths, ...this.#reported.map(pathOf)];
    const isLost = REFERENCES.some(([from, to]) => from.test(path) && known.some((place) => to.test(place)));
    if (isLost) return false;
    const section = trail.slice(0, -1);
    const isMissing = !hasMember(this.#file, trail);
    return !this.#reported.some(
      (reported) =>
        isWithin(reported, trail) ||
        isWithin(trail, reported) ||
        (isMissing && reported.length === trail.length && isWithin(reported, section)),
    );
  }
}

function removablePath({ path, message }: Issue): string {
  return message === MISSING_FIELD ? pathOf(segmentsOf(path).slice(0, -1)) : path;
}

/** Deeper and later places first, so that removing one moves no other. */
function lastFirst(one: readonly Segment[], other: readonly Segment[]): number {
  if (one.length !== other.length) return other.length - one.length;
  const at = one.findIndex((segment, index) => segment !== other[index]);
  const [a, b] = [one[at], other[at]];
  return typeof a === 'number' && typeof b === 'number' ? b - a : 0;
}

/** A copy without one member; the value itself if it has none there. */
function without(value: unknown, [first, ...rest]: readonly Segment[]): unknown {
  if (typeof first === 'number' && Array.isArray(value)) {
    return rest.length === 0 ? value.toSpliced(first, 1) : value.with(first, without(value[first], rest));
  }
  if (typeof first !== 'string' || !isJsonObject(value) || !Object.hasOwn(value, first)) return value;
  const { [first]: member, ...others } = value;
  return rest.length === 0 ? others : { ...others, [first]: without(member, rest) };
}

function hasMember(value: unknown, trail: readonly Segment[]): boolean {
  let node = value;
  for (const segment of trail) {
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, segment)) return false;
    node = (node as Record<Segment, unknown>)[segment];
  }
  return true;
}

function isWithin(trail: readonly Segment[], section: readonly Segment[]): boolean {
  return section.every((segment, index) => segment === trail[index]);
}
