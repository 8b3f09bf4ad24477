import { expect, it } from 'vitest';
import { derivedUuid } from './derived-uuid.ts';

it('makes the same UUID of the same text, and another of another', () => {
  const id = derivedUuid('a');
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(derivedUuid('a')).toBe(id);
  expect(derivedUuid('b')).not.toBe(id);
});
