import { readdirSync, readFileSync } from 'node:fs';
import type { CatalogDocument } from './knowledge/catalog-document.ts';
import { type KnownModel, type KnownModels, modelsOf } from './knowledge/known-model.ts';
import { mergeModels } from './knowledge/merge-models.ts';

/*
 * The data that ship with the gateway: in `models/` what is true of the models of an author, in `endpoints/` how a
 * provider serves models. Every file is a CatalogDocument; tests hold them to its schema, so that here they are read as
 * they are.
 */
const FOLDER = new URL('../catalog/shipped/', import.meta.url);

/**
 * What ships about the models of some providers, and about those with one of these ids. Reads the files of the providers
 * and of the models' authors only.
 */
export function shippedModels(providers: Iterable<string>, ids: Iterable<string> = []): KnownModels {
  const reached = mergeAll([...providers].flatMap((slug) => read(`endpoints/${slug}.json`)));
  const wanted = new Set([...reached.keys(), ...ids]);
  const authors = new Set([...wanted].map(authorOf));
  const facts = [...authors].flatMap((author) => read(`models/${author}.json`));
  return mergeModels(mergeAll(facts.filter(({ id }) => wanted.has(id))), [...reached.values()]);
}

/** Everything that ships. */
export function allShippedModels(): KnownModels {
  return shippedModels(
    readdirSync(new URL('endpoints/', FOLDER)).map((name) => name.slice(0, -'.json'.length)),
  );
}

function mergeAll(models: readonly KnownModel[]): KnownModels {
  return mergeModels(new Map(), models);
}

/** The part of an id before the slash, as far as it can be the name of a file. */
function authorOf(id: string): string {
  return /^[a-z0-9-]+(?=\/)/.exec(id)?.[0] ?? '';
}

/** The models of a file; none when nothing ships about its subject. */
function read(path: string): KnownModel[] {
  try {
    return modelsOf(JSON.parse(readFileSync(new URL(path, FOLDER), 'utf8')) as CatalogDocument);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
