import { pick } from './mutate.ts';

/** A text with one place deleted, replaced, repeated, or with one of `pieces` put in. */
export function mutateBytes(random: () => number, text: string, pieces: readonly string[]): string {
  const below = (limit: number) => Math.floor(random() * limit);
  const at = below(text.length + 1);
  switch (below(4)) {
    case 0:
      return text.slice(0, at) + text.slice(at + 1 + below(3));
    case 1:
      return text.slice(0, at) + pick(random, pieces) + text.slice(at + 1);
    case 2:
      return text.slice(0, at) + text.slice(at, at + 1 + below(20)) + text.slice(at);
    default:
      return text.slice(0, at) + pick(random, pieces) + text.slice(at);
  }
}

/** A text whole, or, one time in four, cut in two. */
export function piecesOf(random: () => number, text: string): readonly string[] {
  if (random() < 0.75) return [text];
  const at = Math.floor(random() * (text.length + 1));
  return [text.slice(0, at), text.slice(at)].filter((piece) => piece !== '');
}
