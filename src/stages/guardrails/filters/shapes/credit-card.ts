import { type DataShape, openRun } from '../bounded-search.ts';
import { codeAt, gapEnd, isDigit, oneOf, orDash, tableOf } from './characters.ts';

const DIGITS = { least: 13, most: 19 };
/** How the digits of cards are grouped. Single digits may stand apart too, as many as a card has. */
const GROUPS: readonly (readonly number[])[] = [
  [4, 4, 4, 4],
  [4, 6, 5],
  [4, 6, 4],
  [4, 4, 4, 4, 3],
  [4, 4, 5],
  [6, 13],
  [8, 8],
  ...Array.from({ length: DIGITS.most - DIGITS.least + 1 }, (_, more) => [DIGITS.least + more]),
  ...Array.from({ length: DIGITS.most - DIGITS.least + 1 }, (_, more) =>
    new Array(DIGITS.least + more).fill(1),
  ),
];

/** The groups as a tree: the node that a group of a length leads to from a node, 0 = none; 0 is the root. */
const NEXT_NODES: number[] = new Array(DIGITS.most + 1).fill(0);
/** Whether a card number may end at a node, by node. */
const MAY_END = [false];
for (const groups of GROUPS) {
  let node = 0;
  for (const length of groups) {
    const place = placeOf(node, length);
    if (NEXT_NODES[place] === 0) {
      NEXT_NODES[place] = MAY_END.push(false) - 1;
      NEXT_NODES.push(...new Array(DIGITS.most + 1).fill(0));
    }
    node = NEXT_NODES[place] as number;
  }
  MAY_END[node] = true;
}

function placeOf(node: number, groupLength: number): number {
  return node * (DIGITS.most + 1) + groupLength;
}

/** Thirteen to nineteen digits whose last one is the check digit of the others. */
export const CREDIT_CARD: DataShape = {
  marks: tableOf(/[2-6]/),
  openFrom: openRun({ begins: oneOf(/[2-6]/), contains: orDash(/[\d .\r\n-]/), maxLength: 73 }),
  find: (text, start) => {
    if (isDigit(codeAt(text, start - 1))) return undefined;
    const end = cardEnd(text, start);
    return end === undefined ? undefined : { start, end };
  },
};

const ZERO = 0x30;
const DOUBLED = [0, 2, 4, 6, 8, 1, 3, 5, 7, 9];

/** Where the longest card number ends that begins at a position. */
function cardEnd(text: string, start: number): number | undefined {
  let longest: number | undefined;
  let node = 0;
  let count = 0;
  /** Luhn's sums with the digits at even and at odd places doubled. */
  let even = 0;
  let odd = 0;
  for (let at = start; count < DIGITS.most; ) {
    const before = count;
    for (let code = codeAt(text, at); isDigit(code); code = codeAt(text, ++at), count++) {
      if (count === DIGITS.most) return longest;
      const digit = code - ZERO;
      const doubled = DOUBLED[digit] as number;
      even += count % 2 === 0 ? doubled : digit;
      odd += count % 2 === 0 ? digit : doubled;
    }
    if (count === before) break;
    node = NEXT_NODES[placeOf(node, count - before)] as number;
    if (node === 0) break;
    // The last digit is not doubled.
    if (MAY_END[node] === true && (count % 2 === 0 ? even : odd) % 10 === 0) longest = at;
    at = gapEnd(text, at);
  }
  return longest;
}
