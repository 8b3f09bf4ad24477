import Type from 'typebox';
import { nullish } from '../../kit/json/schema.ts';

/** Schemas of what requests say about the web, in plugins and in tools. */

/** A search engine by name; the configuration decides which of them work. */
export const engineNameSchema = Type.String({ minLength: 1, maxLength: 64 });

export const userLocationFields = {
  type: Type.Literal('approximate'),
  city: nullish(Type.String()),
  country: nullish(Type.String()),
  region: nullish(Type.String()),
  timezone: nullish(Type.String()),
};

/** A port, a user or a query could never match: patterns have a host and a path only. */
export const domainsSchema = Type.Array(
  Type.String({
    maxLength: 1024,
    pattern: '^\\s*(?:[hH][tT][tT][pP][sS]?://)?(?:[^\\s/:@?#\\[\\]]+|\\[[0-9a-fA-F:.]+\\])(?:/\\S*)?\\s*$',
    explainPattern: 'must be a host, or a host and a path: example.com, *.example.com, example.com/blog',
  }),
  { maxItems: 1024 },
);
