import type { ObjectTarget } from './destination-target.ts';

const VARIABLES = ['prefix', 'date', 'year', 'month', 'day', 'apiKeyName'] as const;

const SEGMENT = '[A-Za-z0-9_.=-]+';

/** What templates of folders may hold. */
export const PATH_TEMPLATE = {
  prefix: {
    pattern: `^${SEGMENT}(?:/${SEGMENT})*/?$`,
    explain: 'must be names of letters, digits and "_.=-", with single slashes between them',
  },
  template: {
    pattern: `^(?!/)(?:[A-Za-z0-9_.=/-]|\\{(?:${VARIABLES.join('|')})\\})+$`,
    explain: `must be folders of letters, digits and ${VARIABLES.map((name) => `{${name}}`).join(', ')}`,
  },
} as const;

export interface FolderFacts {
  readonly atMs: number;
  /** Null = unknown. */
  readonly apiKeyName: string | null;
}

/** The folder of an object's key: without a slash at either end, and empty if the template stands for nothing. */
export function objectFolder(
  { pathTemplate, prefix }: Pick<ObjectTarget, 'pathTemplate' | 'prefix'>,
  { atMs, apiKeyName }: FolderFacts,
): string {
  const date = new Date(atMs).toISOString().slice(0, 10);
  const [year = '', month = '', day = ''] = date.split('-');
  const values: Readonly<Record<(typeof VARIABLES)[number], string>> = {
    prefix,
    date,
    year,
    month,
    day,
    apiKeyName: safeName(apiKeyName ?? 'unknown'),
  };
  const filled = pathTemplate.replace(/\{(\w+)\}/g, (_, name: keyof typeof values) => values[name] ?? '');
  return filled
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.' && segment !== '..')
    .join('/');
}

export function isByKey({ pathTemplate }: Pick<ObjectTarget, 'pathTemplate'>): boolean {
  return pathTemplate.includes('{apiKeyName}');
}

/** A name of a key as one folder: other characters than those of templates become `_`. */
function safeName(name: string): string {
  return name.replace(/[^A-Za-z0-9_.=-]/g, '_').slice(0, 100);
}
