import { lookUp } from '../collections/lookup.ts';
import { isJsonObject, type JsonObject } from './json.ts';
import { memberPath } from './validate.ts';

/** Members of an object that are read, by name; `*` stands for any name. True = whatever is in it. */
export interface ReadMembers {
  readonly [name: string]: true | ReadMembers;
}

/** Paths of the members of an object that are not read. Null means absent. */
export function unreadMembers(value: JsonObject, read: ReadMembers, path = ''): readonly string[] {
  return Object.entries(value).flatMap(([name, member]) => {
    if (member === null || member === undefined) return [];
    const known = lookUp(read, name) ?? read['*'];
    const place = memberPath(path, name);
    if (known === undefined) return [place];
    return known === true || !isJsonObject(member) ? [] : unreadMembers(member, known, place);
  });
}
