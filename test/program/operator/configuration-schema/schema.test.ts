import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { run } from '../../../../src/cli/run.ts';
import { fillVariables, markVariables } from '../../../../src/config/parse/environment.ts';
import { compileDefaults } from '../../../../src/config/parse/fill-defaults.ts';
import { compileNotations } from '../../../../src/config/parse/notations.ts';
import { readYaml } from '../../../../src/config/parse/read-yaml.ts';
import { configurationFileSchema } from '../../../../src/config/schema/file-schema.ts';
import { PRICE_NAMES } from '../../../../src/config/schema/price-names.ts';
import { configSchema } from '../../../../src/config/schema/schema.ts';
import { compileValidator } from '../../../../src/kit/json/validate.ts';
import { BROKEN } from '../broken-configurations/cases.ts';
import { branchesOf, configKeys } from './config-keys.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const textOf = (path: string) => readFileSync(join(root, path), 'utf8');

// `strictRequired` and `strictTypes` want the type repeated in each branch.
const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false });
ajv.addVocabulary(['patternErrorMessage']);
const schemaAccepts = ajv.compile(configurationFileSchema());

const readNotations = compileNotations(configSchema);
const fillDefaults = compileDefaults(configSchema);
const validator = compileValidator(configSchema);

/** Whether the program accepts a value by itself; comparisons of two places come later. */
function programAccepts(value: unknown, environment: Record<string, string> = {}): boolean {
  const marked = JSON.parse(markVariables(JSON.stringify(value)));
  const filled = fillVariables(marked ?? {}, environment);
  const plain = readNotations(filled.value);
  return (
    filled.problems.length + plain.problems.length + validator.issuesOf(fillDefaults(plain.value)).length ===
    0
  );
}

/** The value of a text; undefined if it is no YAML that the program reads. */
function valueIn(text: string): unknown {
  const reading = readYaml(text);
  return reading.ok ? reading.value : undefined;
}

/** Has every key of the schema, in the ways in which the file may write it. */
const COMPLETE = valueIn(textOf('test/program/operator/configuration-schema/complete.yaml')) as Record<
  string,
  unknown
>;

describe('the descriptions of keys', () => {
  it('are whole sentences, one at every key', () => {
    const isSentence = (text = '') => /^[\w*@{].*[.]$/s.test(text);
    const wrong = configKeys().filter(({ node }) => !isSentence(node.description));
    expect(wrong.map(({ path, node }) => [path, node.description])).toEqual([]);
  });
});

describe('keys that end in a unit', () => {
  it.each(['ms', 'bytes', 'days', 'seconds'])('take quantities with it: _%s', (unit) => {
    const ending = configKeys().filter(({ path }) => path.endsWith(`_${unit}`));
    const numbers = ending.filter(({ node }) => branchesOf(node).every(({ properties }) => !properties));
    expect(numbers.filter(({ node }) => branchesOf(node).some((branch) => branch.unit !== unit))).toEqual([]);
    const members = configKeys().filter(({ path }) => path.includes(`_${unit}.`));
    expect(members.filter(({ node }) => node.unit !== unit)).toEqual([]);
  });

  it('are the only ones with a unit', () => {
    const others = configKeys().filter(({ path, node }) => node.unit && !path.includes(`_${node.unit}`));
    expect(others).toEqual([]);
  });
});

describe('signalbox schema', () => {
  it('prints the schema that is beside the example, without reading a configuration', async () => {
    let out = '';
    const output = {
      out: (text: string) => {
        out += text;
      },
      err: () => {},
    };
    expect(await run(['schema', '--config', '/nowhere/signalbox.yaml'], output)).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ $schema: 'https://json-schema.org/draft/2020-12/schema' });
    const hint = 'signalbox.schema.json is out of date: write it with `node scripts/configuration-page.mjs`';
    await expect(out, hint).toMatchFileSnapshot('../../../../signalbox.schema.json');
  });

  it('has a description for every key', () => {
    const without: string[] = [];
    const walk = (node: any, path: string): void => {
      for (const [name, member] of Object.entries<any>(node.properties ?? {})) {
        if (typeof member.description !== 'string') without.push(`${path}.${name}`);
      }
      for (const [name, inner] of Object.entries(node)) {
        if (name === 'dependentSchemas') continue;
        if (typeof inner === 'object' && inner !== null) walk(inner, `${path}.${name}`);
      }
    };
    walk(configurationFileSchema(), '');
    expect(without).toEqual([]);
  });
});

describe('the schema of the file', () => {
  it('is reached from the first line of the example, which it accepts', () => {
    const text = textOf('signalbox.example.yaml');
    expect(text.split('\n', 1)).toEqual(['# yaml-language-server: $schema=signalbox.schema.json']);
    schemaAccepts(valueIn(text));
    expect(schemaAccepts.errors).toBe(null);
    expect(programAccepts(valueIn(text))).toBe(true);
    const sections = Object.keys(configSchema.properties);
    expect(sections.filter((name) => !new RegExp(`^(# )?${name}:`, 'm').test(text))).toEqual([]);
  });

  it('accepts an empty file, and the configurations of the guide', () => {
    expect(schemaAccepts(null)).toBe(true);
    expect(schemaAccepts({})).toBe(true);
    const pages = ['README.md', ...readdirSync(join(root, 'docs/guide')).map((name) => `docs/guide/${name}`)];
    const blocks = pages.flatMap((page) =>
      [...textOf(page).matchAll(/^```yaml\n([\s\S]*?)^```/gm)].map(([, text = '']) => ({
        page,
        text,
        value: valueIn(markVariables(text)),
      })),
    );
    const configurations = blocks.filter(({ value }) =>
      Object.keys(value ?? {}).every((name) => Object.hasOwn(configSchema.properties, name)),
    );
    expect(configurations.length).toBeGreaterThan(8);
    for (const { page, text, value } of configurations) {
      const written = JSON.parse(
        JSON.stringify(value).replace(/\uE000(\w+)\uE001\uE001/g, (_, name) => `\${${name}}`),
      );
      expect({ page, text, accepts: schemaAccepts(written) }).toEqual({ page, text, accepts: true });
    }
  });

  it('accepts what the README says to paste, without a variable, and the simulator stays on', () => {
    const [, text = ''] = /^```yaml\n([\s\S]*?)^```/m.exec(textOf('README.md')) ?? [];
    expect(text).not.toContain('${');
    expect(programAccepts(valueIn(text))).toBe(true);
    expect(valueIn(text)).toMatchObject({ providers: [{ slug: 'simulator' }, { dialect: 'openai-chat' }] });
  });

  it('refuses the broken configurations whose fault is in one place, and no other', () => {
    let refused = 0;
    for (const [what, text] of BROKEN) {
      const value = valueIn(text);
      // Not whole days; the schema does not compute amounts.
      if (value === undefined || typeof value !== 'object' || what === 'half a day') continue;
      const environment = { PATH: 'x', SIGNALBOX_TEST_NOT_SET: 'x' };
      const accepts = programAccepts(value, environment);
      expect({ what, accepts: schemaAccepts(value) }).toEqual({ what, accepts });
      if (!accepts) refused++;
    }
    expect(refused).toBeGreaterThan(20);
  });

  it('agrees with the program on the complete file, of which many values are tried', () => {
    expect(programAccepts(COMPLETE)).toBe(true);
    const tried = trailsIn(COMPLETE).filter((trail) => !isLikeAnother(trail));
    expect(tried.length * VALUES.length).toBeGreaterThan(3000);
  });

  // One section at a time: the whole would take minutes.
  it.each(Object.keys(COMPLETE))('agrees with the program wherever a value of %s is changed', (name) => {
    const section = { [name]: COMPLETE[name] };
    const disagreements: unknown[] = [];
    for (const trail of trailsIn(section)) {
      if (isLikeAnother(trail)) continue;
      const original = trail.reduce<any>((node, step) => node[step], section);
      for (const value of [
        ...VALUES,
        REMOVED,
        ...(isObject(original) ? [{ ...original, unknown_key: 1 }] : []),
      ]) {
        const changed = replaced(section, trail, value);
        // A variable that is set to what was there.
        const environment = { NAME: isObject(original) ? 'x' : String(original) };
        const program = programAccepts(changed, environment);
        if (program === schemaAccepts(changed)) continue;
        const isPartOfDay =
          String(trail.at(-1)).endsWith('_days') && !program && PARTS_OF_DAYS.includes(value);
        // Nor does the schema compute amounts with units, which may be above a maximum.
        const isTooLong = trail.at(-1) === 'timeout_ms' && !program && TOO_LONG.includes(value);
        if (!isPartOfDay && !isTooLong) disagreements.push({ trail: trail.join('.'), value, program });
      }
    }
    expect(disagreements).toEqual([]);
  });

  it('meets every key in the complete file', () => {
    const met = new Set(
      trailsIn(COMPLETE).map((trail) => trail.map((step) => (typeof step === 'number' ? '[]' : `.${step}`))),
    );
    const paths = new Set([...met].map((steps) => steps.join('').slice(1)));
    const free = [...paths].map((path) =>
      path
        .replace(/^(prompts|presets)\.[^.]+/, '$1.*')
        .replace(/^(providers\[\]\.headers|plugins\.web\.engines|tools\.mcp_servers)\.[^.]+/, '$1.*')
        .replace(/(^plugins\.web\.engines\.\*\.price_per_search)\.[^.]+/, '$1.*')
        .replace(/(^tools\.mcp_servers\.\*\.headers|^observability\.otlp\.headers)\.[^.]+/, '$1.*'),
    );
    const missing = configKeys().filter(
      ({ path }) => !free.includes(path) && !free.includes(`${path}_per_million`),
    );
    expect(missing.map(({ path }) => path)).toEqual([]);
  });
});

/** True below dated prices, whose schema is that of pricing, and for prices that are like others. */
function isLikeAnother(trail: Trail): boolean {
  const isDated = trail.includes('prices') && trail.includes('pricing') && trail.at(-1) !== 'pricing';
  const isOtherPrice = SAME_PRICES.some((name) => trail.at(-1) === name);
  return isDated || isOtherPrice;
}

const SAME_PRICES = PRICE_NAMES.filter((name) => name !== 'prompt' && name !== 'request');

const REMOVED = Symbol('removed');

// biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the file.
const VARIABLES = ['${NAME}', '$${NAME}'];

/** Durations longer than the most that a service may take. */
const TOO_LONG: readonly unknown[] = ['12 H', '5000000'];
/** Durations that are not whole days: the schema does not compute amounts. */
const PARTS_OF_DAYS: readonly unknown[] = ['30s', '12 H'];

/** Values that are right in some places and wrong in others. */
const VALUES: readonly unknown[] = [
  null,
  true,
  0,
  1,
  0.5,
  -1,
  5000,
  1e12,
  1e19,
  '',
  'x',
  'a b',
  'power',
  '30s',
  '12 H',
  '32MiB',
  '5000',
  '0.25',
  '0.0000001',
  '5000000',
  '2026-05-01',
  '2026-05',
  'https://app.example.com',
  [],
  ['x'],
  [null],
  {},
  { x: 1 },
  { x: {} },
  ...VARIABLES,
];

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

type Trail = readonly (string | number)[];

function trailsIn(value: unknown, trail: Trail = []): Trail[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const at = [...trail, Array.isArray(value) ? Number(name) : name];
    return [at, ...trailsIn(member, at)];
  });
}

function replaced(root: unknown, trail: Trail, value: unknown): unknown {
  const copy = structuredClone(root);
  const parent = trail.slice(0, -1).reduce<any>((node, step) => node[step], copy);
  const last = trail.at(-1) as string;
  if (value !== REMOVED) parent[last] = value;
  else if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else delete parent[last];
  return copy;
}
