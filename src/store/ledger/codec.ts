import { isJsonObject, type Json, type JsonObject } from '../../kit/json.ts';
import type { Nanos } from '../../kit/money.ts';

/** Data of the ledger that cannot be read. The message names the place. */
export class LedgerDataProblem extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'LedgerDataProblem';
  }
}

/** How a value is written as JSON and read back. */
export interface Codec<T> {
  /** The value as JSON; undefined = left out. */
  toJson(value: T): Json | undefined;
  /** Throws LedgerDataProblem, which says where in the value and what was expected. */
  decode(json: Json | undefined): T;
}

type CodecsOf<T> = { readonly [K in keyof T]-?: Codec<T[K]> };

const WHOLE_NUMBER = /^-?\d{1,40}$/;

/** Nano-dollars, as decimal text: JSON numbers are not exact. */
export const nanosCodec: Codec<Nanos> = {
  toJson: (nanos) => String(nanos),
  decode(json) {
    if (typeof json !== 'string' || !WHOLE_NUMBER.test(json)) throw expected('nano-dollars');
    return BigInt(json);
  },
};

export const textCodec: Codec<string> = {
  toJson: (text) => text,
  decode(json) {
    if (typeof json !== 'string') throw expected('text');
    return json;
  },
};

/** A whole number that a double holds exactly. */
export const wholeCodec: Codec<number> = {
  toJson: (whole) => whole,
  decode(json) {
    if (!Number.isSafeInteger(json)) throw expected('a whole number');
    return json as number;
  },
};

export const truthCodec: Codec<boolean> = {
  toJson: (truth) => truth,
  decode(json) {
    if (typeof json !== 'boolean') throw expected('true or false');
    return json;
  },
};

/** An object that is kept as it is. */
export const objectCodec: Codec<JsonObject> = {
  toJson: (object) => object,
  decode(json) {
    if (!isJsonObject(json)) throw expected('an object');
    return json;
  },
};

/** One of a closed set of words. */
export function wordCodec<const T extends string>(...words: T[]): Codec<T> {
  return {
    toJson: (word) => word,
    decode(json) {
      const word = words.find((candidate) => candidate === json);
      if (word === undefined) throw expected(words.join(', '));
      return word;
    },
  };
}

export function nullableCodec<T>(codec: Codec<T>): Codec<T | null> {
  return {
    toJson: (value) => (value === null ? null : codec.toJson(value)),
    decode: (json) => (json === null ? null : codec.decode(json)),
  };
}

export function listCodec<T>(codec: Codec<T>): Codec<readonly T[]> {
  return {
    toJson: (list) => list.map((value) => codec.toJson(value) ?? null),
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

/** Texts, of which there may be very many: as they are. */
export const textsCodec: Codec<readonly string[]> = {
  ...listCodec(textCodec),
  toJson: (texts) => texts as string[],
};

/** An object whose members have codecs of their own. */
export function membersCodec<T extends object>(codecs: CodecsOf<T>): Codec<T> {
  const members = (Object.entries(codecs) as [string & keyof T, Codec<unknown>][]).map(([name, codec]) => ({
    name,
    codec,
  }));
  return {
    toJson(value) {
      const json: { [name: string]: Json | undefined } = {};
      for (const { name, codec } of members) json[name] = codec.toJson(value[name]);
      return json as JsonObject;
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
