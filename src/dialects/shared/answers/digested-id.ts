import { hash } from 'node:crypto';

export interface IdForm {
  readonly maxCharacters: number;
  /** Beginning of an id that is made from an empty one. */
  readonly stem: string;
}

/** Ids that every upstream accepts. */
const COMMON_FORM: IdForm = { maxCharacters: 64, stem: 'call' };

/** Characters of the digest at the end, which keeps made ids apart. */
const DIGEST_CHARACTERS = 12;

/** An id with the same beginning as the original. The same `unique` always gives the same id. */
export function digestedId(original: string, unique: string, form: IdForm = COMMON_FORM): string {
  const kept = original.slice(0, form.maxCharacters - 1 - DIGEST_CHARACTERS);
  const stem = kept === '' ? form.stem : kept.replace(/[^a-zA-Z0-9_-]/g, '_');
  return `${stem}_${hash('sha256', unique).slice(0, DIGEST_CHARACTERS)}`;
}
