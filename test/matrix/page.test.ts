import { expect, it } from 'vitest';
import { translationPage } from './page.ts';

it('is what docs/guide/translation.md shows', async () => {
  const hint = 'docs/guide/translation.md is out of date: write it with `node scripts/translation-page.mjs`';
  await expect(translationPage(), hint).toMatchFileSnapshot('../../docs/guide/translation.md');
});
