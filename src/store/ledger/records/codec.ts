import { isJsonObject, type Json, type JsonObject } from '../../../kit/json/json.ts';
import type { Nanos } from '../../../kit/money.ts';
import { keptText } from '../../../kit/text/kept-text.ts';

/** Data of the ledger that cannot be read. The message names the place. */
export class LedgerDataProblem extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'LedgerDataProblem';
  }
}

/** How a value is written as JSON and read back. */
export interface Codec<T> {
  /** The value as JSON text: no object is made only to be written. */
  encode(value: T): string;
  /** Throws LedgerDataProblem, which says where in the value and what was expected. */
  decode(json: Json | undefined): T;
  /** True for a value that is not written at all; the first member of an object always is. */
  isOmitted?(value: T): boolean;
}

type CodecsOf<T> = { readonly [K in keyof T]-?: Codec<T[K]> };

const WHOLE_NUMBER = /^-?\d{1,40}$/;

/** Nano-dollars, as decimal text: JSON numbers are not exact. */
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
export const wholeCodec: Codec<number> = {
  encode: (whole) => String(whole),
  decode(json) {
    if (!Number.isSafeInteger(json)) throw expected('a whole number');
    return json as number;
  },
};

export const truthCodec: Codec<boolean> = {
  encode: (truth) => String(truth),
  decode(json) {
    if (typeof json !== 'boolean') throw expected('true or false');
    return json;
  },
};

/** An object that is kept as it is. */
export const objectCodec: Codec<JsonObject> = {
  encode: (object) => JSON.stringify(object),
  decode(json) {
    if (!isJsonObject(json)) throw expected('an object');
    return json;
  },
};

/** One of a closed set of words, which need no escapes. */
export function wordCodec<const T extends string>(...words: T[]): Codec<T> {
  return {
    encode: (word) => `"${word}"`,
    decode(json) {
      const word = words.find((candidate) => candidate === json);
      if (word === undefined) throw expected(words.join(', '));
      return word;
    },
  };
}

/** For objects that come again and again: their text is made once, so they may not change. */
export function repeatedCodec<T extends object>(codec: Codec<T>): Codec<T> {
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

/** A member that most data, and all older data, lacks. `absent` is what that means. */
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

/** Texts, of which there may be very many: written in one go. */
export const textsCodec: Codec<readonly string[]> = {
  ...listCodec(textCodec),
  encode: (texts) => JSON.stringify(texts),
};

/** An object whose members have codecs of their own. */
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

/** A problem as seen from outside: one step more in front of its place. */
export function inside(error: unknown, step: string): unknown {
  return error instanceof LedgerDataProblem ? new LedgerDataProblem(step + error.message) : error;
}
