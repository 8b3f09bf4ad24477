/** Addresses as they stand in a text, with those of other protocols, which are refused by name. */
const ADDRESS = /\b(?:https?|ftp|file|gopher):\/\/[^\s<>"`|\\^{}]+/gi;

const MAX_ADDRESS_CHARACTERS = 2048;

/** The addresses in a text, each once, in their order. */
export function addressesIn(text: string): string[] {
  const found = new Set<string>();
  for (const [address] of text.matchAll(ADDRESS)) {
    const trimmed = withoutPunctuation(address.slice(0, MAX_ADDRESS_CHARACTERS + 1));
    if (trimmed.length <= MAX_ADDRESS_CHARACTERS) found.add(trimmed);
  }
  return [...found];
}

/** The address without punctuation and markup of the sentence around it. */
function withoutPunctuation(address: string): string {
  let end = address.length;
  while (end > 0) {
    const last = address.charAt(end - 1);
    const isClosing = last === ')' || last === ']';
    const opening = last === ')' ? '(' : '[';
    const isOurs = isClosing && count(address, opening, end) >= count(address, last, end);
    if (isOurs || !(isClosing || /[.,;:!?'*_~]/.test(last))) break;
    end--;
  }
  return address.slice(0, end);
}

function count(text: string, character: string, end: number): number {
  let found = 0;
  for (let at = 0; at < end; at++) if (text.charAt(at) === character) found++;
  return found;
}
