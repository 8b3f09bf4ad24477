import { expect, it } from 'vitest';
import { translationPages } from './page.ts';

it.each([...translationPages()])('is what docs/guide/%s shows', async (name, text) => {
  const hint = `docs/guide/${name} is out of date: write it with \`node scripts/translation-page.mjs\``;
  await expect(text, hint).toMatchFileSnapshot(`../../../docs/guide/${name}`);
});
