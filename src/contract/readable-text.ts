import Type from 'typebox';

/**
 * Text that people can read back, and that every engine keeps as it is: no control characters, no halves of characters,
 * and something in it that is not a blank.
 */
export function readableText(maxLength: number, more: object = {}) {
  return Type.String({
    minLength: 1,
    maxLength,
    pattern: '^(?=.*\\S)[^\\p{Cc}\\p{Cs}]*$',
    explainPattern: 'must hold something besides blanks, and no control characters',
    ...more,
  });
}

/** Text of several lines that every engine keeps as it is. */
export function keptText(maxLength: number, more: object = {}) {
  return Type.String({
    maxLength,
    pattern: '^[^\\u0000\\p{Cs}]*$',
    explainPattern: 'must hold neither U+0000 nor halves of characters',
    ...more,
  });
}
