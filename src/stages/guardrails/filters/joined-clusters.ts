import { CHANGED, compositeOf, formOf, HIDDEN, JOINING, kindOf, OPEN } from './character-forms.ts';
import { UnitText } from './unit-text.ts';

/** Joining characters that are looked at together with the one before them; more of them stand for themselves. */
export const MAX_JOINING = 64;

/** The unit that ends the form of a cluster. It joins with nothing, so it is part of none. */
export const FORM_END = 0;

/** Characters that are looked at together: a joining one or several, and the one before if they may change it. */
export interface JoinedCluster {
  readonly start: number;
  readonly end: number;
  /** Where its visible characters begin and end. */
  readonly first: number;
  readonly last: number;
}

/** The places of a text where characters join or vanish, in order, and the normal form of all of them. */
export interface JoinedClusters {
  readonly clusters: readonly JoinedCluster[];
  /** One after the other. */
  readonly forms: string;
}

/** They are normalized in one call: one for each takes much longer. `isShort`: of characters that may be shortened. */
export function joinedClusters(text: string, isShort: boolean): JoinedClusters {
  const clusters: JoinedCluster[] = [];
  const visible = new UnitText(0);
  let base = -1;
  for (let index = 0; index < text.length; ) {
    const code = text.codePointAt(index) as number;
    const kind = kindOf(code);
    if (kind < JOINING) {
      base = kind < OPEN ? -1 : index;
      index += widthOf(code);
      continue;
    }
    const cluster = clusterAt(text, base === -1 ? index : base, index, visible, isShort);
    clusters.push(cluster);
    base = -1;
    index = cluster.end;
  }
  return { clusters, forms: clusters.length === 0 ? '' : visible.toString().normalize('NFKC') };
}

/** `joining`: where its first joining character is. */
function clusterAt(
  text: string,
  start: number,
  joining: number,
  visible: UnitText,
  isShort: boolean,
): JoinedCluster {
  let first = start;
  let last = start;
  /** The first character with those that have become one with it, as long as it is not among the visible ones. */
  let base: number | undefined;
  if (start < joining) {
    const code = text.codePointAt(start) as number;
    if (kindOf(code) === CHANGED) visible.addUnits(isShort ? formOf(code).short : formOf(code).whole);
    else base = code;
    last = joining;
  }
  let end = joining;
  for (let count = 0; count < MAX_JOINING && end < text.length; count++) {
    const code = text.codePointAt(end) as number;
    const kind = kindOf(code);
    if (kind < JOINING) break;
    const at = end;
    end += widthOf(code);
    if (kind === HIDDEN) continue;
    if (last === start) first = at;
    last = end;
    // What most texts have is put together here: to normalize it takes longer.
    const composite = base === undefined ? undefined : compositeOf(base, code);
    if (composite !== undefined) base = composite;
    else {
      if (base !== undefined) visible.addCode(base);
      visible.addCode(code);
      base = undefined;
    }
  }
  if (base !== undefined) visible.addCode(base);
  visible.addCode(FORM_END);
  return { start, end, first, last };
}

/** Where the last character of a text begins, with the joining ones after it that are looked at together. */
export function lastCluster(text: string): number {
  let start = text.length;
  for (let joining = 0; start > 0; joining++) {
    const before = start - widthBefore(text, start);
    const isJoining = kindOf(text.codePointAt(before) as number) >= JOINING;
    if (isJoining && joining === MAX_JOINING) break;
    start = before;
    if (!isJoining) break;
  }
  return start;
}

function widthOf(code: number): number {
  return code > 0xffff ? 2 : 1;
}

function widthBefore(text: string, end: number): number {
  return end > 1 && (text.codePointAt(end - 2) as number) > 0xffff ? 2 : 1;
}
