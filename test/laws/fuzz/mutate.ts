/** A small seeded generator: the same seed gives the same run anywhere. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 4_294_967_296;
  };
}

export function pick<T>(random: () => number, list: readonly T[]): T {
  return list[Math.floor(random() * list.length)] as T;
}

/** Values that are wrong nearly everywhere. */
export const JUNK: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  -1e308,
  2 ** 53,
  '',
  'x',
  'x'.repeat(300),
  '\u0000',
  '\ud800',
  '"}\n\ndata: x',
  [],
  [[]],
  {},
  { type: 'text' },
  { type: 'function' },
  { __proto__: null },
  { constructor: 1 },
  { role: 'user' },
  ['a', 1, null],
  'simulator/standard',
  { type: 'message', role: 'assistant', content: null },
  { id: 'web' },
  'data:image/png;base64,AAAA',
  'file:///etc/passwd',
];

const KEYS = [
  'type',
  'role',
  'content',
  'id',
  'name',
  'text',
  'input',
  'call_id',
  'output',
  'arguments',
  '__proto__',
  'constructor',
  'toString',
  'x',
];

/** A copy of `value` with one to four things in it changed, dropped, doubled or added. */
export function mutate<T>(random: () => number, value: T): unknown {
  let mutant: unknown = structuredClone(value);
  for (let count = 1 + Math.floor(random() * 4); count > 0; count--) mutant = mutateOnce(random, mutant);
  return mutant;
}

function mutateOnce(random: () => number, value: unknown): unknown {
  if (random() < 0.15 || value === null || typeof value !== 'object') return pick(random, JUNK);
  if (Array.isArray(value)) {
    const index = Math.floor(random() * value.length);
    const action = random();
    if (action < 0.15) return value.filter((_, at) => at !== index);
    if (action < 0.3) return [...value, ...value];
    if (action < 0.45 || value.length === 0) return [...value, pick(random, JUNK)];
    return value.map((member, at) => (at === index ? mutateOnce(random, member) : member));
  }
  const object = value as Record<string, unknown>;
  const keys = Object.keys(object);
  const action = random();
  if (action < 0.2 || keys.length === 0) {
    return JSON.parse(
      `${JSON.stringify(object).slice(0, -1)}${keys.length > 0 ? ',' : ''}${JSON.stringify(pick(random, KEYS))}:${JSON.stringify(pick(random, JUNK)) ?? 'null'}}`,
    );
  }
  const key = pick(random, keys);
  if (action < 0.35) return Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));
  return Object.fromEntries(
    Object.entries(object).map(([name, member]) => [
      name,
      name === key ? mutateOnce(random, member) : member,
    ]),
  );
}
