import { isJsonObject, type Json, type JsonObject } from '../../../kit/json/json.ts';
import type { Nanos } from '../../../kit/money.ts';
import { keptText, textOf } from '../../../kit/text/kept-text.ts';

/** A record or snapshot that cannot be read. The message names the place. */
export class LedgerDataProblem extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'LedgerDataProblem';
  }
}

/** Encodes a value as JSON text and decodes it. */
export interface Codec<T> {
  /** Returns text directly, without an intermediate object. */
  encode(value: T): string;
  /** Throws LedgerDataProblem with the place in the value and what was expected. */
  decode(json: Json | undefined): T;
  /** True for a value whose member is omitted; the first member of an object is never omitted. */
  isOmitted?(value: T): boolean;
}

type CodecsOf<T> = { readonly [K in keyof T]-?: Codec<T[K]> };

const WHOLE_NUMBER = /^-?\d{1,40}$/;

/** Nano-dollars as decimal text, because JSON numbers are not exact. */
export const nanosCodec: Codec<Nanos> = {
  encode: (nanos) => `"${nanos}"`,
  decode(json) {
    if (typeof json !== 'string' || !WHOLE_NUMBER.test(json)) throw expected('nano-dollars');
    return BigInt(json);
  },
};

export const textCodec: Codec<string> = {
  encode: (text) => JSON.stringify(text),
  decode(json) {
    if (typeof json !== 'string') throw expected('text');
    return json;
  },
};

/** A whole number that a double holds exactly. */
export const integerCodec: Codec<number> = {
  encode: (whole) => String(whole),
  decode(json) {
    if (!Number.isSafeInteger(json)) throw expected('a whole number');
    return json as number;
  },
};

export const booleanCodec: Codec<boolean> = {
  encode: (truth) => String(truth),
  decode(json) {
    if (typeof json !== 'boolean') throw expected('true or false');
    return json;
  },
};

/** An object that is stored unchanged. */
export const objectCodec: Codec<JsonObject> = {
  encode: (object) => textOf(object, JSON.stringify),
  decode(json) {
    if (!isJsonObject(json)) throw expected('an object');
    return json;
  },
};

/** One of a closed set of words that need no escaping. */
export function enumCodec<const T extends string>(...words: T[]): Codec<T> {
  return {
    encode: (word) => `"${word}"`,
    decode(json) {
      const word = words.find((candidate) => candidate === json);
      if (word === undefined) throw expected(words.join(', '));
      return word;
    },
  };
}

/** For immutable objects that are encoded repeatedly: caches their text. */
export function cachedCodec<T extends object>(codec: Codec<T>): Codec<T> {
  return {
    encode: (value) => keptText(value, codec.encode),
    decode: (json) => codec.decode(json),
  };
}

export function nullableCodec<T>(codec: Codec<T>): Codec<T | null> {
  return {
    encode: (value) => (value === null ? 'null' : codec.encode(value)),
    decode: (json) => (json === null ? null : codec.decode(json)),
  };
}

/** A member that most data, and all older data, lacks. `absent` is the value it has then. */
export function optionalCodec<T>(codec: Codec<T>, absent: T): Codec<T> {
  return {
    encode: (value) => codec.encode(value),
    decode: (json) => (json === undefined ? absent : codec.decode(json)),
    isOmitted: (value) => value === absent,
  };
}

export function listCodec<T>(codec: Codec<T>): Codec<readonly T[]> {
  return {
    encode: (list) => `[${list.map((value) => codec.encode(value)).join(',')}]`,
    decode(json) {
      if (!Array.isArray(json)) throw expected('a list');
      return json.map((member, index) => {
        try {
          return codec.decode(member);
        } catch (error) {
          throw inside(error, `[${index}]`);
        }
      });
    },
  };
}

/** A list of texts, which may be very long: encoded in one call. */
export const textsCodec: Codec<readonly string[]> = {
  ...listCodec(textCodec),
  encode: (texts) => JSON.stringify(texts),
};

export function membersCodec<T extends object>(codecs: CodecsOf<T>): Codec<T> {
  const members = (Object.entries(codecs) as [string & keyof T, Codec<unknown>][]).map(
    ([name, codec], index) => ({
      name,
      codec,
      isOmitted: codec.isOmitted,
      opening: `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`,
    }),
  );
  return {
    encode(value) {
      let text = '';
      for (const { name, codec, isOmitted, opening } of members) {
        if (isOmitted === undefined || !isOmitted(value[name])) text += opening + codec.encode(value[name]);
      }
      return `${text}}`;
    },
    decode(json) {
      if (!isJsonObject(json)) throw expected('an object');
      const value: Partial<Record<string, unknown>> = {};
      let current = '';
      try {
        for (const { name, codec } of members) {
          current = name;
          value[name] = codec.decode(json[name]);
        }
      } catch (error) {
        throw inside(error, `.${current}`);
      }
      return value as T;
    },
  };
}

function expected(what: string): LedgerDataProblem {
  return new LedgerDataProblem(`: expected ${what}`);
}

/** Prepends a step to the place of a problem. */
export function inside(error: unknown, step: string): unknown {
  return error instanceof LedgerDataProblem ? new LedgerDataProblem(step + error.message) : error;
}
