import type { Json, JsonObject } from '../../../src/kit/json/json.ts';
import {
  fullAround,
  fullSampleOf,
  hasSubstance,
  minimalOf,
  neededIn,
  ownerOf,
  plainName,
  sampleOf,
} from './sample.ts';
import { alternativesOf, type Member, type ObjectShape, type Shape, tagOf } from './shape.ts';

/** One thing that a request or an answer may say by its published type. */
export interface Probe {
  /** What it is, as the page names it: `web_search_call.status = incomplete`. */
  readonly name: string;
  /** The object that it stands in. */
  readonly owner: string;
  /** The name of the probe of that object; undefined for the root. */
  readonly parent: string | undefined;
  /** The root of the type, with this and nothing else beyond what is required. */
  readonly body: JsonObject;
  /** The same without it or, if it is required, with something else in its place. */
  readonly without: JsonObject;
  /** What the member has. */
  readonly value: Json;
}

/** What a walk through a type needs to know of the format besides the types. */
export interface Walk {
  /** Elements that lists of this name begin with, so that an element that vanishes does not leave the list empty. */
  anchors(member: string, owner: string): readonly Json[];
  /** False for what the format does not allow although its types do. */
  isPossible(owner: string, member: string, value: string): boolean;
  /** True if objects are shown with all of their members: what surrounds a member is real content. */
  readonly isFull: boolean;
  /** Names that were probed before: those are not probed again. */
  readonly seen: Set<string>;
  /** Types that were walked through before. */
  readonly visited: Set<string>;
}

/** How a value gets into its place in a body. */
type Place = (value: JsonObject) => JsonObject;

/** Every member, value and kind of object that a type allows, each once. */
export function probesOf(root: ObjectShape, rootName: string, walk: Walk): Probe[] {
  const probes: Probe[] = [];
  const { visited } = walk;
  const valueFor = walk.isFull ? fullSampleOf : sampleOf;
  const queue: (() => void)[] = [];
  visit(root, (value) => value, rootName, undefined);
  // Breadth first: what stands near the root is shown there, and not deep inside something else.
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) next();
  return probes;

  function visit(shape: ObjectShape, place: Place, owner: string, parent: string | undefined): void {
    const key = shape.name === undefined ? owner : plainName(shape.name);
    if (visited.has(key)) return;
    visited.add(key);
    const tag = tagOf(shape)?.member;
    for (const member of shape.members) {
      if (member.name === tag || member.isHeader) continue;
      const required = walk.isFull ? fullAround(shape, owner, member.name) : minimalOf(shape, 0, owner);
      const put = (value: Json): JsonObject => place({ ...required, [member.name]: value });
      const { [member.name]: _, ...rest } = required;
      const isNeeded = neededIn(shape, owner)[member.name] !== undefined;
      probe({ member, owner, parent, put, absent: () => place(rest), isNeeded }, member.shape);
    }
  }

  /** Probes what a member may have, and visits the objects in it. */
  function probe(site: Site, shape: Shape, wrap: Wrap = bare, anchored?: Json): void {
    const { member, owner, parent, put, absent, isNeeded } = site;
    const shapes = alternativesOf(shape);
    for (const each of shapes) {
      if (each.kind === 'list') {
        const anchors = walk.anchors(member.name, owner);
        const into: Wrap = (value) => wrap([...anchors, value]);
        probe(site, each.of, into, anchors.length > 0 ? wrap([...anchors]) : undefined);
        continue;
      }
      const said = saidBy(each, shapes);
      if (!walk.isPossible(owner, member.name, said ?? '')) continue;
      const name = `${owner === '' ? '' : `${owner}.`}${member.name}${said === undefined ? '' : ` ${said}`}`;
      const other = () => {
        if (anchored !== undefined) return put(anchored);
        if (member.isOptional && !isNeeded) return absent();
        const rival = shapes.find((alternative) => alternative !== each && alternative.kind === each.kind);
        return put(wrap(valueFor(each.kind === 'literal' ? (rival ?? each) : each, 1, member.name, owner)));
      };
      if (!walk.seen.has(name)) {
        walk.seen.add(name);
        const inside = valueFor(each, 0, member.name, owner);
        const value = wrap(inside);
        // By what has no content, nothing can be judged; nor need it be, where there is content to be had.
        const isJudged = !walk.isFull || inside === null || hasSubstance(inside);
        if (isJudged) probes.push({ name, owner, parent, body: put(value), without: other(), value });
      }
      const inner = each.kind === 'map' ? each.of : each;
      if (inner.kind !== 'object') continue;
      const held: Wrap = each.kind === 'map' ? (object) => ({ key: object }) : bare;
      queue.push(() => {
        visit(inner, (object) => put(wrap(held(object))), ownerOf(inner, member.name, owner), name);
      });
    }
  }
}

/** A member that is probed, and how a value gets there. */
interface Site {
  readonly member: Member;
  readonly owner: string;
  readonly parent: string | undefined;
  put(value: Json): JsonObject;
  absent(): JsonObject;
  /** True if the API wants it although its type calls it optional. */
  readonly isNeeded: boolean;
}

/** Puts a value into the lists around it. */
type Wrap = (value: Json) => Json;

const bare: Wrap = (value) => value;

/** What one alternative of a member says: a value, a kind of object; undefined if it is any text or number. */
function saidBy(shape: Shape, shapes: readonly Shape[]): string | undefined {
  if (shape.kind === 'literal') return `= ${shape.value === null ? 'null' : String(shape.value)}`;
  if (shape.kind !== 'object') return undefined;
  const tag = tagOf(shape);
  if (tag !== undefined) return `: ${tag.value}`;
  const isOnly = shapes.filter(({ kind }) => kind === 'object').length === 1;
  return isOnly || shape.name === undefined ? undefined : `: ${plainName(shape.name)}`;
}
