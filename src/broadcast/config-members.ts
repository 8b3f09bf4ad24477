import Type, { type TObject, type TSchema } from 'typebox';
import { closed, nullish, oneOf } from '../kit/json/schema.ts';

export interface ConfigMember {
  readonly schema: TSchema;
  readonly isRequired: boolean;
  /** Stored encrypted, and shown masked; so is each value of headers. */
  readonly isSecret: boolean;
  /** It names the server that is written to. */
  readonly isAddress: boolean;
  /** Its value where it is not given. */
  readonly fallback: string | undefined;
  readonly description: string;
}

type Members = Readonly<Record<string, ConfigMember>>;

const MAX_CHARACTERS = 1024;
const MAX_SECRET_CHARACTERS = 8192;
const MAX_URL_CHARACTERS = 2048;
const MAX_HEADERS = 32;

function headerText(maxLength: number): TSchema {
  return Type.String({
    minLength: 1,
    maxLength,
    pattern: '^[\\x21-\\x7e](?:[\\x20-\\x7e]*[\\x21-\\x7e])?$',
    explainPattern: 'must be printable ASCII without line breaks, and neither begin nor end with a blank',
  });
}

const PLAIN = {
  isRequired: true,
  isSecret: false,
  isAddress: false,
  fallback: undefined,
} as const satisfies Partial<ConfigMember>;

export function text(description: string, fallback?: string): ConfigMember {
  return {
    ...PLAIN,
    schema: headerText(MAX_CHARACTERS),
    isRequired: fallback === undefined,
    fallback,
    description,
  };
}

export function secret(description: string): ConfigMember {
  return { ...PLAIN, schema: headerText(MAX_SECRET_CHARACTERS), isSecret: true, description };
}

/** The member if it need not be given and has no default. */
export function optional(member: ConfigMember): ConfigMember {
  return { ...member, isRequired: false };
}

/** An address that paths are appended to. */
export function address(description: string, fallback?: string): ConfigMember {
  const pattern = '^https?://[^\\s/@?#\\\\]+(?:/[^\\s?#]*)?$';
  return addressLike(pattern, 'user name, password, query and fragment', description, fallback);
}

/** An address that is called as it is. */
export function wholeAddress(description: string): ConfigMember {
  return addressLike(
    '^https?://[^\\s/@?#\\\\]+(?:[/?][^\\s#]*)?$',
    'user name, password and fragment',
    description,
  );
}

/** `without`: what it must not have. */
function addressLike(pattern: string, without: string, description: string, fallback?: string): ConfigMember {
  const schema = Type.String({
    pattern,
    maxLength: MAX_URL_CHARACTERS,
    explain: `must be an http or https address without ${without}, of at most ${MAX_URL_CHARACTERS} characters`,
  });
  return { ...PLAIN, schema, isAddress: true, isRequired: fallback === undefined, fallback, description };
}

/** A name that needs no quotes in SQL. */
export function sqlName(description: string, fallback?: string): ConfigMember {
  const schema = Type.String({
    pattern: '^[A-Za-z_][A-Za-z0-9_]{0,62}$',
    explain: 'must be 1 to 63 letters, digits and underscores, beginning with none of the digits',
  });
  return { ...PLAIN, schema, isRequired: fallback === undefined, fallback, description };
}

/** Text that must match a pattern. */
export function formed(
  { pattern, explain }: { readonly pattern: string; readonly explain: string },
  description: string,
  fallback?: string,
): ConfigMember {
  const schema = Type.String({ pattern, explain, maxLength: MAX_CHARACTERS });
  return { ...PLAIN, schema, isRequired: fallback === undefined, fallback, description };
}

export function choice(values: readonly [string, ...string[]], description: string): ConfigMember {
  return { ...PLAIN, schema: oneOf(values), isRequired: false, fallback: values[0], description };
}

/** Further headers of every request. */
export const HEADERS: ConfigMember = {
  ...PLAIN,
  schema: Type.Record(Type.String(), headerText(MAX_SECRET_CHARACTERS), {
    maxProperties: MAX_HEADERS,
    propertyNames: {
      type: 'string',
      pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$",
      explainPattern: 'must be the name of a header: letters, digits and "-"',
    },
  }),
  isRequired: false,
  isSecret: true,
  description: 'Further headers of every request; they replace those that the type sets.',
};

export function configSchema(members: Members): TObject {
  return closed(
    Object.fromEntries(
      Object.entries(members).map(([name, { schema, isRequired }]) => [
        name,
        isRequired ? schema : nullish(schema),
      ]),
    ),
  );
}
