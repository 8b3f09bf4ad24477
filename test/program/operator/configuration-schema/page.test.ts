import { expect, it } from 'vitest';
import { configKeys } from './config-keys.ts';
import { isRepeated, keysPages } from './page.ts';

it.each([...keysPages()])('is what docs/guide/%s shows', async (name, text) => {
  const hint = `docs/guide/${name} is out of date: write it with \`node scripts/configuration-page.mjs\``;
  await expect(text, hint).toMatchFileSnapshot(`../../../../docs/guide/${name}`);
});

it('has every key of the schema', () => {
  const pages = [...keysPages().values()];
  const isThere = (path: string) =>
    pages.some((page) => page.includes(`\`${path}\``) || page.includes(`\n## ${path}\n`));
  const missing = configKeys().filter(({ path }) => !isThere(isRepeated(path) ? firstPlaceOf(path) : path));
  expect(missing.map(({ path }) => path)).toEqual([]);
});

/** Where the pages show a key that dated prices and prices of long prompts have too. */
function firstPlaceOf(path: string): string {
  const regular = path.replace('.prices[].pricing.', '.pricing.');
  return path.endsWith('.min_prompt_tokens') ? regular : regular.replace('.overrides[].', '.');
}
