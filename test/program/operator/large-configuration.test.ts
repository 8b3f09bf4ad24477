import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { loadConfiguration, loadConfigurationInThread } from '../../../src/config/load.ts';
import { deriveSettingsSliced } from '../../../src/settings/derive-settings.ts';
import { loadOptions } from '../../../src/settings/load-options.ts';
import { temporaryDirectory } from '../../adapters/contracts/temporary-directory.ts';

const temporary = temporaryDirectory();
afterEach(() => temporary.remove());

it('is the same in slices as at once, with the places of all problems', async () => {
  const file = join(temporary.path, 'large.yaml');
  const options = { ...loadOptions({ config: file }), env: {} };
  const model = (index: number, price = '0.000001') =>
    `  - { id: acme/m${index}, endpoints: [{ provider: acme, model: m, pricing: { prompt: "${price}" } }] }`;
  const text = (models: readonly string[], more = '') =>
    [
      'providers:',
      '  - { slug: acme, dialect: openai-chat, base_url: "http://127.0.0.1:9/v1", api_key: k }',
      'models:',
      ...models,
      'prompts:',
      ...Array.from({ length: 600 }, (_, index) => `  p${index}: { instructions: "Say {{a}}" }`),
      more,
    ].join('\n');
  const models = Array.from({ length: 300 }, (_, index) => model(index));

  writeFileSync(file, text([...models, model(300, '0.5')]));
  const loading = await loadConfigurationInThread(options);
  expect(loading).toEqual(loadConfiguration(options));
  if (!loading.ok) throw new Error('the file is valid');
  expect(loading.loaded.config.models).toHaveLength(301);
  expect(Object.keys(loading.loaded.config.prompts)).toHaveLength(600);
  expect(loading.loaded.warnings).toMatchObject([{ path: 'models[300].endpoints[0].pricing.prompt' }]);
  expect([...deriveSettingsSliced(loading.loaded)].length).toBeGreaterThan(4);

  writeFileSync(
    file,
    text([...models, '  - { id: acme/wrong, endponts: [] }', model(7)], '  p600: { x: 1 }'),
  );
  const refused = await loadConfigurationInThread(options);
  expect(refused).toEqual(loadConfiguration(options));
  if (refused.ok) throw new Error('the file is wrong');
  const paths = refused.problems.map(({ path }) => path);
  expect(paths.some((path) => path.startsWith('models[300]'))).toBe(true);
  expect(paths.some((path) => path.startsWith('prompts.p600'))).toBe(true);
});
