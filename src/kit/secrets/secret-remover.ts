import { boundedText } from '../json/bounded-json.ts';
import { isJsonObject, type Json, type JsonObject } from '../json/json.ts';
import { formsOfAll, REDACTED } from './redact.ts';
import { withoutKnownSecrets } from './without-secrets.ts';

/** Removes the secrets that a service was called with from texts that it sends, in whatever form it echoes them. */
export interface SecretRemover {
  (text: string): string;
  /** At most so many characters of a text: what is cut off ends no secret in its middle. */
  bounded(text: string, maxCharacters: number): string;
}

/** Shorter values are no secrets: removing them would tear ordinary words apart. */
const MIN_SECRET_CHARACTERS = 8;

/** Characters beyond a limit that are read, so that a secret at the limit is found whole. */
const BEYOND_LIMIT = 16_384;

export function removerOf(secrets: readonly string[]): SecretRemover {
  const forms = formsOfAll(secrets.filter(({ length }) => length >= MIN_SECRET_CHARACTERS));
  const remove = (text: string) => withoutKnownSecrets(text, { forms, replacement: REDACTED });
  return Object.assign(remove, {
    bounded(text: string, maxCharacters: number): string {
      const read = maxCharacters + BEYOND_LIMIT;
      if (text.length <= read) return boundedText(remove(text), maxCharacters);
      // The beginning of a secret may stand at the end of what was read: it is not shown, however much was removed.
      return boundedText(remove(text.slice(0, read)).slice(0, -BEYOND_LIMIT), maxCharacters);
    },
  });
}

/** A value whose strings and names of members hold no secret. */
export function cleared(value: Json, withoutSecrets: SecretRemover): Json {
  if (typeof value === 'string') return withoutSecrets(value);
  if (Array.isArray(value)) return value.map((each) => cleared(each, withoutSecrets));
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [
    withoutSecrets(name),
    cleared(member ?? null, withoutSecrets),
  ]);
  return Object.fromEntries(members) as JsonObject;
}
