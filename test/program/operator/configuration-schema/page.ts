// biome-ignore-all lint/suspicious/noTemplateCurlyInString: configuration files name variables this way.

import { PRICE_NAMES } from '../../../../src/config/schema/price-names.ts';
import { UNITS, type Unit } from '../../../../src/config/schema/units.ts';
import { branchesOf, type ConfigKey, configKeys, type KeyNode } from './config-keys.ts';

/** Where the guide says more about a section. */
const MORE: Readonly<Record<string, string>> = {
  server: '[Running the gateway](running.md), [Deploy](deploy.md)',
  providers: '[Providers](providers.md), [Endpoints](configuration.md#endpoints)',
  models: '[Catalogue](catalogue.md), [Prices](configuration.md#prices)',
  limits:
    '[Limits](limits.md), [Billing](billing.md), [Analytics](analytics.md), [Datasets](apps.md#datasets)',
  credits: '[Billing](billing.md)',
  byok: '[BYOK credentials](byok.md)',
  routing: '[Stickiness](routing.md#stickiness), [Failures](routing.md#failures)',
  durability: '[Billing](billing.md)',
  retention: '[Billing](billing.md), [Analytics](analytics.md)',
  apps: '[Hiding apps](apps.md#hiding-apps)',
  guardrails: '[Guardrails](guardrails.md)',
  egress:
    '[Addresses that callers name](byok.md#addresses-that-callers-name), [Where fetches may go](web.md#where-fetches-may-go)',
  plugins: '[Routers](routing.md#routers), [Plugins](plugins.md), [The web](web.md)',
  presets: '[Presets](routing.md#presets)',
  workspaces: '[Workspaces in the file](file-workspaces.md), [Traces and destinations](observability.md)',
  observability: '[Traces and destinations](observability.md)',
  metrics: '[Metrics](metrics.md)',
};

const GENERATED =
  'The page is generated, from the same descriptions as [`signalbox schema`](configuration.md#your-editor): ' +
  'after a change run `node scripts/configuration-page.mjs`.';

const INTRODUCTION =
  'Every key, with what it takes, its default and what it means. `[]` stands for any item of a list, `*` for any name. ' +
  'Each key is optional unless it says *required*; a key that is null has its default. A text may hold `${NAME}`, ' +
  'which reads an environment variable. Durations and sizes may have a unit: see [Units](configuration.md#units).';

const REST_PAGE = 'configuration-keys.md';

/** Pages of keys that are many, with the sections on them. All other sections are on REST_PAGE. */
const SECTION_PAGES: Readonly<
  Record<string, { readonly title: string; readonly sections: readonly string[] }>
> = {
  'configuration-models.md': {
    title: 'Keys of providers and models',
    sections: ['providers', 'models'],
  },
  'configuration-workspaces.md': { title: 'Keys of workspaces', sections: ['workspaces'] },
  'configuration-observability.md': {
    title: 'Keys of traces and metrics',
    sections: ['observability', 'metrics'],
  },
};

/** The pages of the guide that list every key, by file name. */
export function keysPages(): ReadonlyMap<string, string> {
  const pages = Object.entries(SECTION_PAGES);
  const elsewhere = pages.flatMap(([, { sections }]) => sections);
  const links = pages.map(([name, { sections }]) => `[${sections.join(' and ')}](${name})`);
  const rest = pageText(
    'Keys of the configuration file',
    `${INTRODUCTION} Other pages have the keys of ${links.join(', of ')}.`,
    (section) => !elsewhere.includes(section),
  );
  return new Map([
    [REST_PAGE, rest],
    ...pages.map(([name, { title, sections }]) => {
      const introduction = `${INTRODUCTION} All other keys: [Keys of the configuration file](${REST_PAGE}).`;
      return [name, pageText(title, introduction, (section) => sections.includes(section))] as const;
    }),
  ]);
}

function pageText(title: string, introduction: string, has: (section: string) => boolean): string {
  const keys = configKeys().filter(({ path }) => !isRepeated(path) && has(sectionOf(path)));
  const sections = [...new Set(keys.map(({ path }) => sectionOf(path)))];
  const keysOf = (section: string) => keys.filter(({ path }) => sectionOf(path) === section);
  const singles = sections.map(keysOf).filter(({ length }) => length === 1);
  const groups = [
    ...(singles.length === 0 ? [] : [['The top level', singles.flat()] as const]),
    ...sections.map((section) => [section, keysOf(section)] as const).filter(([, { length }]) => length > 1),
  ];
  const contents = groups.map(([name]) => `[${name}](#${name.toLowerCase().replaceAll(' ', '-')})`);
  const parts = [
    `# ${title}`,
    wrapped(introduction),
    wrapped(GENERATED),
    wrapped(`On this page: ${contents.join(', ')}.`),
    ...groups.map(groupText),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** Prices from a later day, and those of long prompts, have the same names as `pricing`. */
export function isRepeated(path: string): boolean {
  const isPrice = PRICE_NAMES.some((name) => path.endsWith(`.${name}`));
  return /\.prices\[\]\.pricing\./.test(path) || (isPrice && path.includes('.overrides[].'));
}

function sectionOf(path: string): string {
  return path.split(/[.[]/, 1)[0] as string;
}

function groupText([title, keys]: readonly [string, readonly ConfigKey[]]): string {
  const [first, ...members] = keys as [ConfigKey, ...ConfigKey[]];
  const isSection = first.path === title;
  const more = MORE[title];
  return [
    `## ${title}`,
    ...(isSection ? [wrapped(`${meaningOf(first)}${more === undefined ? '' : ` More: ${more}.`}`)] : []),
    [
      '| Key | Takes | Default | Meaning |',
      '|---|---|---|---|',
      ...(isSection && members.length > 0 ? members : keys).map(row),
    ].join('\n'),
  ].join('\n\n');
}

function row(key: ConfigKey): string {
  return `| \`${key.path}\` | ${takes(key.node)} | ${defaultText(key)} | ${meaningOf(key)} |`;
}

function meaningOf({ node }: ConfigKey): string {
  return (node.description ?? '').replaceAll('|', '\\|');
}

const QUANTITY_WORDS: Readonly<Record<Unit, string>> = { ms: 'duration', bytes: 'size', days: 'days' };

function takes(node: KeyNode): string {
  return branchesOf(node).map(kindOf).join(' or ');
}

function kindOf(node: KeyNode): string {
  if (node.unit !== undefined) return QUANTITY_WORDS[node.unit];
  if (node.enum !== undefined) return node.enum.map((word) => `\`${word}\``).join(', ');
  if (node.items !== undefined) return `list${itemsText(node.items)}`;
  if (node.properties !== undefined) return 'keys';
  if (node.patternProperties !== undefined) return 'names with values';
  if (node.type === 'boolean') return '`true`, `false`';
  if (node.type === 'integer') return `whole number${rangeText(node)}`;
  if (node.type === 'number') return `number${rangeText(node)}`;
  return 'text';
}

function itemsText(items: KeyNode): string {
  const [item] = branchesOf(items);
  return item?.enum === undefined ? '' : `: ${kindOf(item)}`;
}

function rangeText({ minimum, maximum }: KeyNode): string {
  if (minimum === undefined) return '';
  const isBounded = maximum !== undefined && maximum < 1e9;
  return isBounded ? `, ${minimum} to ${maximum}` : `, ${minimum} or more`;
}

function defaultText({ node, isRequired }: ConfigKey): string {
  if (isRequired) return '*required*';
  const { default: value, unit } = node;
  const isEmpty = value === undefined || JSON.stringify(value) === '{}';
  if (isEmpty) return '';
  return `\`${unit === undefined ? valueText(value) : quantityText(value as number, unit)}\``;
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** With the largest unit that leaves a whole number. */
function quantityText(value: number, unit: Unit): string {
  const { factors, own } = UNITS[unit];
  const amount = BigInt(value) * own;
  const [word = ''] =
    Object.entries(factors)
      .filter(([, factor]) => amount % factor === 0n && amount >= factor)
      .sort(([, one], [, other]) => Number(other - one))[0] ?? [];
  if (word === '') return String(value);
  return `${amount / (factors[word] as bigint)}${UNIT_NAMES[word] ?? word}`;
}

/** Units are compared without case; these are how people write them. */
const UNIT_NAMES: Readonly<Record<string, string>> = {
  kb: 'kB',
  mb: 'MB',
  gb: 'GB',
  tb: 'TB',
  kib: 'KiB',
  mib: 'MiB',
  gib: 'GiB',
  tib: 'TiB',
  b: 'B',
};

const LINE_CHARACTERS = 118;

function wrapped(text: string): string {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length >= LINE_CHARACTERS) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines.join('\n');
}
