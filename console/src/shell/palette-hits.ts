import type { FilterChoice } from '../parts/filters/filter-fields.ts';

/** A line of the palette. */
export interface PaletteHit {
  readonly title: string;
  readonly detail: string;
  readonly address: string;
  /** The log, filtered by it; absent = the log cannot be. */
  readonly logAddress?: string;
}

/** What the palette searches besides views. */
export interface PaletteThings {
  readonly models: readonly FilterChoice[];
  readonly workspaces: readonly FilterChoice[];
  /** Keys that the gateway found. */
  readonly keys: readonly { readonly hash: string; readonly name: string; readonly label: string }[];
}

interface Searched extends PaletteThings {
  readonly views: readonly {
    readonly title: string;
    readonly path: string;
    readonly shortcut: string | null;
  }[];
}

/** Ids of generations, which open their record. */
const GENERATION_ID = /^gen-[\w-]+$/;

const MAX_OF_A_KIND = 5;

/** What is called like a text: views first, then keys, models and workspaces. Without a text, the views. */
export function hitsFor(text: string, { views, keys, models, workspaces }: Searched): readonly PaletteHit[] {
  if (GENERATION_ID.test(text)) return [{ title: text, detail: 'Generation', address: `/log#${text}` }];
  const wanted = text.toLowerCase();
  const isNamed = (name: string): boolean => name.toLowerCase().includes(wanted);
  const ofViews = views
    // The word of the address too, which names the thing in the API.
    .filter(({ title, path }) => isNamed(title) || isNamed(path.slice(1)))
    .map(({ title, path, shortcut }) => ({
      title,
      detail: shortcut === null ? '' : `G ${shortcut.toUpperCase()}`,
      address: path,
    }));
  if (text === '') return ofViews;
  const named = (choices: readonly FilterChoice[]) =>
    choices.filter(({ label }) => isNamed(label)).slice(0, MAX_OF_A_KIND);
  return [
    ...ofViews,
    ...keys.map(({ hash, name, label }) => ({
      title: name || label,
      detail: 'Key',
      address: `/keys#${hash}`,
      logAddress: `/log?key=${hash}`,
    })),
    ...named(models).map(({ value, label }) => ({
      title: label,
      detail: 'Model',
      address: `/models?${new URLSearchParams({ open: value, search: value })}`,
      logAddress: `/log?${new URLSearchParams({ model: value })}`,
    })),
    ...named(workspaces).map(({ value, label }) => ({
      title: label,
      detail: 'Workspace',
      address: `/workspaces#${value}`,
      logAddress: `/log?workspace=${value}`,
    })),
  ];
}
