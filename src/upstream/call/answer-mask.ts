import type { Frame } from '../../kit/frames/frames.ts';
import { type Confidential, REDACTED } from '../../kit/secrets/redact.ts';
import { withoutLogprobsIn } from './logprobs.ts';
import { type SplitSecret, splitSecret } from './split-mask.ts';

/**
 * Removes the secrets of a call from what the upstream answers. Unlike error texts, answers are only searched for the
 * secrets as JSON writes them: that is all that each event can afford.
 */

/** Shorter secrets are words that answers may contain. */
const MIN_SECRET_CHARACTERS = 8;

/** Placeholder keys for servers that want a key and check none. */
const PLACEHOLDER = /^(?:sk-)?(?:[a-z]{1,19}|(?:no|not|any|dummy|fake|lm|local|your)(?:[-_ ][a-z]+)*)$/i;

/** A long secret of fewer characters is no key, and searching for it may take as long as text and key multiplied. */
const MAX_MONOTONOUS_CHARACTERS = 64;
const MIN_DISTINCT_CHARACTERS = 8;

/** Longer secrets, and those with spaces, are not looked for across events. */
const SPLIT_SECRET = /^[\x21-\x7e]{1,512}$/;

const MASKS = new WeakMap<readonly string[], AnswerMask>();

export class AnswerMask {
  /** The secrets as JSON writes them. */
  readonly #forms: readonly string[];
  /** Secrets that are looked for across events, by a `SplitMask`. */
  readonly splittable: readonly SplitSecret[];
  readonly longest: number;

  constructor(forms: readonly string[], splittable: readonly SplitSecret[]) {
    this.#forms = forms;
    this.splittable = splittable;
    this.longest = Math.max(0, ...forms.map(({ length }) => length));
  }

  /** The mask of a call. `keys` last: their part is made once. */
  static of({ keys = NO_SECRETS, tokens = NO_SECRETS }: Pick<Confidential, 'keys' | 'tokens'>): AnswerMask {
    const lasting = MASKS.get(keys) ?? maskOf(keys);
    MASKS.set(keys, lasting);
    if (tokens.length === 0) return lasting;
    return new AnswerMask([...lasting.#forms, ...tokens.flatMap(formsOf)], lasting.splittable);
  }

  /** JSON text without the secrets: mostly the same text. */
  text(text: string): string {
    let clean = text;
    for (const form of this.#forms) if (clean.includes(form)) clean = clean.replaceAll(form, REDACTED);
    return clean;
  }

  /** A frame without the secrets, and then without log probabilities, whose tokens may spell one. */
  frame(frame: Frame): Frame {
    const data = this.text(frame.data);
    return data === frame.data ? frame : { ...frame, data: withoutLogprobsIn(data) };
  }
}

const NO_SECRETS: readonly string[] = [];

function maskOf(secrets: readonly string[]): AnswerMask {
  const masked = secrets.filter(
    (secret) => secret.length >= MIN_SECRET_CHARACTERS && !PLACEHOLDER.test(secret) && !isMonotonous(secret),
  );
  const splittable = masked.filter((secret) => SPLIT_SECRET.test(secret));
  return new AnswerMask([...new Set(masked.flatMap(formsOf))], splittable.map(splitSecret));
}

function isMonotonous(secret: string): boolean {
  return secret.length > MAX_MONOTONOUS_CHARACTERS && new Set(secret).size < MIN_DISTINCT_CHARACTERS;
}

/**
 * A secret as it stands in JSON: escaped as little as possible, with escaped slashes, and as some servers do for HTML.
 */
function formsOf(secret: string): string[] {
  const plain = JSON.stringify(secret).slice(1, -1);
  const html = plain.replace(
    /[<>&='+]/g,
    (character) => `\\u00${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
  return [plain, plain.replaceAll('/', '\\/'), html];
}

/** JSON text that comes in pieces, without the secrets. Holds back as much as may be the beginning of one. */
export class MaskedText {
  readonly #mask: AnswerMask;
  #heldBack = '';
  /** A secret was found so far. */
  hasMasked = false;

  constructor(mask: AnswerMask) {
    this.#mask = mask;
  }

  push(piece: string): string {
    if (this.#mask.longest === 0) return piece;
    const given = this.#heldBack + piece;
    const text = this.#mask.text(given);
    this.hasMasked ||= text !== given;
    const end = Math.max(0, text.length - this.#mask.longest + 1);
    this.#heldBack = text.slice(end);
    return text.slice(0, end);
  }

  end(): string {
    const rest = this.#heldBack;
    this.#heldBack = '';
    return rest;
  }
}
