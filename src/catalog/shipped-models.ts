import { readdirSync, readFileSync } from 'node:fs';
import type { CatalogDocument } from './knowledge/catalog-document.ts';
import { type KnownModel, type KnownModels, modelsOf } from './knowledge/known-model.ts';
import { mergeModels } from './knowledge/merge-models.ts';

/*
 * The shipped data: `models/` has one file per author with facts about models, `endpoints/` one per provider with the
 * models it serves. Every file is a CatalogDocument; tests check them against its schema, so they are not checked here.
 */

/** Found from `src/catalog` and from the bundle, whose files are as deep as this one. */
const FOLDER = new URL('../catalog/shipped/', import.meta.url);

/**
 * The shipped models of these providers, and those with these ids. Reads only the files of the providers and of the
 * models' authors.
 */
export function shippedModels(providers: Iterable<string>, ids: Iterable<string> = []): KnownModels {
  const reached = mergeAll([...providers].flatMap((slug) => read(`endpoints/${slug}.json`)));
  const wanted = new Set([...reached.keys(), ...ids]);
  const authors = new Set([...wanted].map(authorOf));
  const facts = [...authors].flatMap((author) => read(`models/${author}.json`));
  return mergeModels(mergeAll(facts.filter(({ id }) => wanted.has(id))), [...reached.values()]);
}

export function allShippedModels(): KnownModels {
  return shippedModels(
    readdirSync(new URL('endpoints/', FOLDER)).map((name) => name.slice(0, -'.json'.length)),
  );
}

function mergeAll(models: readonly KnownModel[]): KnownModels {
  return mergeModels(new Map(), models);
}

/** The author in a model id; empty if it cannot be a file name. */
function authorOf(id: string): string {
  return /^[a-z0-9-]+(?=\/)/.exec(id)?.[0] ?? '';
}

/** The models of a file; none if it does not exist. */
function read(path: string): KnownModel[] {
  try {
    return modelsOf(JSON.parse(readFileSync(new URL(path, FOLDER), 'utf8')) as CatalogDocument);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
