import { OP, type Program } from './program.ts';

const NEW = 0;
const OPEN = 1;
const DONE = 2;

/** Characters of the longest match of a program; Infinity if it can repeat something without a bound. */
export function longestMatch({ start, ops, out, arg }: Program): number {
  const longest = new Float64Array(ops.length);
  const states = new Uint8Array(ops.length);
  const stack = [start];
  for (let pc = stack.at(-1); pc !== undefined; pc = stack.at(-1)) {
    const op = ops[pc] as number;
    const ways =
      op === OP.match || op === OP.fail ? [] : op === OP.split ? [at(out, pc), at(arg, pc)] : [at(out, pc)];
    if (states[pc] === NEW) {
      states[pc] = OPEN;
      for (const way of ways) {
        if (states[way] === OPEN) return Number.POSITIVE_INFINITY;
        if (states[way] === NEW) stack.push(way);
      }
      continue;
    }
    stack.pop();
    if (states[pc] === DONE) continue;
    states[pc] = DONE;
    const rest = ways.reduce((most, way) => Math.max(most, longest[way] as number), 0);
    longest[pc] = rest + (op === OP.character ? 1 : 0);
  }
  return longest[start] as number;
}

function at(list: Int32Array, index: number): number {
  return list[index] as number;
}
