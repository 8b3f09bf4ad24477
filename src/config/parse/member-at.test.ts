import { describe, expect, it } from 'vitest';
import { memberAt } from './member-at.ts';

/** The member in which the "@" of a line lies. */
function found(line: string): string {
  const index = line.indexOf('@');
  const { from, isSecret } = memberAt(line, index, (name) => name === 'secret');
  return `${isSecret ? 'secret' : 'plain'} ${line.slice(from, index + 1).trim()}`;
}

describe('memberAt', () => {
  it.each([
    ['name: @', 'plain name: @'],
    ['secret: @', 'secret secret: @'],
    ['- secret: @', 'secret - secret: @'],
    ['- "secret": @', 'secret - "secret": @'],
    ['secret: a, b: @', 'secret secret: a, b: @'],
    ['list: [{ secret: a, name: @', 'plain name: @'],
    ['list: [{ name: a, secret: @', 'secret secret: @'],
    ['{"secret":"a","name":"@', 'plain "name":"@'],
    ['{"name":"a","secret":"@', 'secret "secret":"@'],
    ['{ secret: "a, name: @', 'secret secret: "a, name: @'],
    ['{ secret: "a\\", name: @', 'secret secret: "a\\", name: @'],
    ["{ secret: 'a'', name: @", "secret secret: 'a'', name: @"],
    ['{ secret: &a "b, name: @', 'secret secret: &a "b, name: @'],
    ['{ secret: { name: @', 'secret name: @'],
    ['{ secret: [a, { name: b, c: @', 'secret c: @'],
    ['{ secret: { name: a } @', 'secret name: a } @'],
    ['{ secret: { name: a }, b: @', 'plain b: @'],
    ["{ name: it's, b: @", 'plain b: @'],
    ['{ secret: a { b: @', 'secret b: @'],
    ['{ url: http://h/, b: @', 'plain b: @'],
  ])('%s', (line, member) => {
    expect(found(line)).toBe(member);
  });
});
